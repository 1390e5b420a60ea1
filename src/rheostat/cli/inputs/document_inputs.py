"""Documents named by the user: files, or names of the reference library, told apart by their kind."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar

from rheostat.cli.output import Complaint, WrongUse, complaints_of, warn
from rheostat.errors import InvalidDocument
from rheostat.model.documents import Document, check_together, read
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.reference import APPLICATIONS, NETWORKS

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Found:
    """The documents that were found, and complaints about all other arguments."""

    documents: tuple[Document, ...]
    invalid: tuple[Complaint, ...]
    """Documents that are wrong, by themselves or together."""
    missing: tuple[Complaint, ...]
    """Arguments that are no documents at all."""


def find_all(arguments: Sequence[str]) -> Found:
    """Every argument that can be read, and every complaint about those that cannot, then about all together."""
    found = _find_each(arguments)
    return replace(found, invalid=found.invalid + _together(found.documents))


def find_sound(arguments: Sequence[str], kinds: Sequence[str], options: Sequence[str] = ()) -> tuple[Document, ...]:
    """Documents of these kinds, at most one of each, then those of the options; or every complaint."""
    found = _find_each([*arguments, *options])
    if not found.missing and not found.invalid:
        _check_kinds(found.documents[: len(arguments)], kinds)
        found = replace(found, invalid=_together(found.documents))
    if found.missing or found.invalid:
        raise WrongUse(*found.missing, *found.invalid)
    return found.documents


def _find_each(arguments: Sequence[str]) -> Found:
    documents: list[Document] = []
    invalid: list[Complaint] = []
    missing: list[Complaint] = []
    for argument in arguments:
        try:
            documents.append(_find(argument))
        except InvalidDocument as error:
            invalid += complaints_of(error)
        except (WrongUse, OSError) as error:
            missing += complaints_of(error)
    return Found(tuple(documents), tuple(invalid), tuple(missing))


def _together(documents: Sequence[Document]) -> tuple[Complaint, ...]:
    try:
        check_together(documents)
    except InvalidDocument as error:
        return complaints_of(error)
    return ()


def _find(argument: str) -> Document:
    path = Path(argument)
    if path.is_dir():
        raise WrongUse(Complaint("this is a directory", "name a file in it", argument))
    if path.exists():
        return read(path)
    if argument in APPLICATIONS:
        return Document("application", APPLICATIONS[argument](), path)
    if argument in NETWORKS:
        return Document("infrastructure", NETWORKS[argument](), path)
    near = did_you_mean(argument, [*APPLICATIONS, *NETWORKS, *_files_near(path)])
    raise WrongUse(Complaint("there is no such file, and no such name in the reference library", near, argument))


def _files_near(path: Path) -> list[str]:
    """Documents in the directory of a missing one."""
    if not path.parent.is_dir():
        return []
    return [str(other) for other in path.parent.iterdir() if other.suffix in (".yaml", ".yml", ".graphml", ".csv")]


def _check_kinds(documents: Sequence[Document], wanted: Sequence[str]) -> None:
    """Rejects unexpected and repeated kinds; notes on stderr an order that differs from the usage."""
    seen: dict[str, Path] = {}
    for document in documents:
        kind, file = document.kind, str(document.path)
        if kind not in wanted:
            what = f"this describes {_a(kind)}, which has no place here"
            raise WrongUse(Complaint(what, f"this takes: {', '.join(wanted)}", file))
        if kind in seen:
            what = f"this describes {_a(kind)}, and so does {seen[kind]}"
            raise WrongUse(Complaint(what, f"give one of each: {', '.join(wanted)}", file))
        seen[kind] = document.path
    if list(seen) != [kind for kind in wanted if kind in seen]:
        warn("note: documents were taken by their kind: " + ", ".join(f"{kind} {path}" for kind, path in seen.items()))


def of_type(documents: Iterable[Document], kind: type[Value]) -> Value | None:
    """The first value of this type, if there is one."""
    return next((document.value for document in documents if isinstance(document.value, kind)), None)


def only(document: Document, wanted: type[Value] | UnionType, kind: str) -> Any:
    """The value of an option that takes one kind alone."""
    if isinstance(document.value, wanted):
        return document.value
    what = f"this describes {_a(document.kind)}, not {_a(kind)}"
    raise WrongUse(Complaint(what, "give another file", str(document.path)))


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
