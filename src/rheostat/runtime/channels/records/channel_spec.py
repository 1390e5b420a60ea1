"""Description of a channel: its name, its number of key groups, its event time and its columns."""

import re
from dataclasses import asdict, dataclass
from typing import Any

from rheostat.runtime.channels.records.key_groups import Groups, group_range

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_@.=+-]*")


@dataclass(frozen=True, slots=True)
class ChannelSpec:
    """One stream of an application. All of it is fixed for the life of the channel."""

    name: str
    """Appears in every offset, so that an offset cannot be taken for another channel's."""
    groups: int
    """Number of key groups G."""
    event_time: str | None = None
    """Column (or path into structs, `window.end`) whose order readers protect; None: everything is released at once."""
    schema: str | None = None
    """Columns as Spark DDL, if readers need not say it themselves."""

    def __post_init__(self) -> None:
        """Rejects names that cannot be stored and channels without key groups."""
        checked_name(self.name)
        if self.groups < 1:
            raise ValueError(f"a channel has at least one key group, got {self.groups}")

    @property
    def all_groups(self) -> Groups:
        """Every key group."""
        return group_range(self.groups)

    def to_document(self) -> dict[str, Any]:
        """The description as JSON."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "ChannelSpec":
        """The description that `to_document` wrote."""
        return cls(**document)


def checked_name(name: str) -> str:
    """The name, if it can be the name of a file and part of an offset."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"a name consists of letters, digits and _ @ . = + -, got {name!r}")
    return name
