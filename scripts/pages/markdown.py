"""Markdown tables and text that may stand in their cells."""

from collections.abc import Iterable, Sequence


def cell(text: object) -> str:
    """Text for one cell of a table: one line, with bars and angle brackets that do not end it."""
    words = " ".join(str(text).split())
    return words.replace("|", "\\|").replace("<", "&lt;") if "`" not in words else words.replace("|", "\\|")


def code(text: object) -> str:
    """Text as code, for one cell of a table."""
    return "`" + " ".join(str(text).split()).replace("|", "\\|").replace("`", "'") + "`"


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown already."""
    lines = ["| " + " | ".join(headers) + " |", "|" + "---|" * len(headers)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def page(title: str, *blocks: str) -> str:
    """A page of blocks, each apart from the next."""
    return "\n\n".join([f"# {title}", *(block for block in blocks if block)]) + "\n"
