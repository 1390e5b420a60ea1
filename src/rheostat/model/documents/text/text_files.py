"""Reading of text files, with the reason if a file cannot be read."""

from pathlib import Path

from rheostat.errors import InvalidDocument, Located
from rheostat.model.documents.text.word_guess import closest_word

MAX_BYTES = 32_000_000


def text_of(path: Path) -> str:
    """The text of a file."""
    try:
        if path.is_dir():
            raise _unreadable(path, "this is a directory", "name a file in it")
        if path.stat().st_size > MAX_BYTES:
            raise _unreadable(path, f"the file is larger than {MAX_BYTES} bytes", "no document needs that")
        content = path.read_bytes()
    except FileNotFoundError:
        raise _unreadable(path, "there is no such file", _neighbour(path)) from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, f"the file cannot be read: {error}", "check the path and its permissions") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        mistake = Located(str(path), line, "this is not text in UTF-8", "save the file as UTF-8 text")
        raise InvalidDocument([mistake]) from None


def _unreadable(path: Path, what: str, remedy: str) -> InvalidDocument:
    return InvalidDocument([Located(str(path), 1, what, remedy)])


def _neighbour(path: Path) -> str:
    """A hint: the file beside it that was probably meant."""
    if not path.parent.is_dir():
        return f"there is no directory {str(path.parent)!r} either"
    meant = closest_word(path.name, [other.name for other in path.parent.iterdir()])
    return f"did you mean {str(path.parent / meant)!r}?" if meant else "check the path"
