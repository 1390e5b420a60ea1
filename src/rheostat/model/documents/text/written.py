"""Document as written in the file: plain values, each with its line."""

from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
"""Path in a document: keys and positions, from the outside in."""
Scalar = str | int | float | bool | None


@dataclass(slots=True)
class Written:
    """A value and the line where it begins. Values repeated by an alias are shared, not copied."""

    value: "Scalar | list[Written] | dict[str, WrittenEntry]"
    line: int
    text: str = ""
    """A scalar as it is spelled in the file."""
    size: int = 1
    """Number of values it holds, itself included, aliases expanded."""
    depth: int = 1
    """Depth of its nesting, aliases expanded."""

    def plain(self) -> Any:
        """The value without its lines, as a copy."""
        if isinstance(self.value, dict):
            return {key: entry.content.plain() for key, entry in self.value.items()}
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        return self.value

    def line_of(self, path: Path) -> int:
        """The line of a key or an item; if it is missing, of the nearest value around it."""
        here, line = self, self.line
        for part in path:
            if isinstance(here.value, dict) and part in here.value:
                entry = here.value[str(part)]
                here, line = entry.content, entry.line
            elif isinstance(here.value, list) and isinstance(part, int) and part < len(here.value):
                here = here.value[part]
                line = here.line
            else:
                break
        return line

    def at(self, path: Path) -> "Written | None":
        """The value at a path; None if there is none."""
        here: Written | None = self
        for part in path:
            if here is not None and isinstance(here.value, dict):
                entry = here.value.get(str(part))
                here = entry.content if entry else None
            elif here is not None and isinstance(here.value, list) and isinstance(part, int) and part < len(here.value):
                here = here.value[part]
            else:
                return None
        return here

    def add_alias(self, path: Path, name: str) -> None:
        """Makes a misspelled key available under its correct name, too."""
        mapping = self.at(path[:-1])
        if mapping is not None and isinstance(mapping.value, dict) and path[-1] in mapping.value:
            mapping.value[name] = mapping.value[str(path[-1])]


@dataclass(slots=True)
class WrittenEntry:
    """Value of a mapping under one key."""

    line: int
    """The line of the key."""
    content: Written
