"""The settings of one run: the keys of a `kind: run` document, which are the options of `rheostat run`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from math import isfinite
from typing import Any

from rheostat.errors import InvalidModel, Mistake

KEYS: Mapping[str, str] = {
    "seconds": "for",
    "policy_settings": "set",
    "global_policy": "global",
    "global_settings": "global_set",
    "bounds_ms": "bound",
    "control_settings": "control_set",
}
"""Fields whose key in a document has another name: the option's, with _ for -."""


class NodeForm(StrEnum):
    """Forms of the nodes on one machine."""

    EMBEDDED = "embedded"
    """All in this process and one Spark application: light."""
    PROCESS = "process"
    """A process and a Spark application for each: isolated from one another."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of one run; None and empty collections stand for what is not given."""

    application: str | None = None
    infrastructure: str | None = None
    local_nodes: int | None = None
    deployment: str | None = None
    planner: str | None = None
    objective: str | None = None
    directory: str | None = None
    nodes: NodeForm | None = None
    master: tuple[str, ...] = ()
    spark: Mapping[str, str] = field(default_factory=dict)
    trigger_ms: int | None = None
    key_groups: int | None = None
    seconds: float | None = None
    until_drained: bool | None = None
    control: str | None = None
    policy: str | None = None
    policy_settings: Mapping[str, Any] = field(default_factory=dict)
    global_policy: str | None = None
    global_settings: Mapping[str, Any] = field(default_factory=dict)
    objective_ms: float | None = None
    bounds_ms: Mapping[str, Any] = field(default_factory=dict)
    period: float | None = None
    settle: float | None = None
    profile: str | None = None
    learned: str | None = None
    control_settings: Mapping[str, Any] = field(default_factory=dict)
    dry_run: bool | None = None

    def __post_init__(self) -> None:
        """Rejects settings that contradict themselves, listing every mistake."""
        if found := self._mistakes():
            raise InvalidModel("run settings", found)

    def given(self) -> dict[str, Any]:
        """The settings that are given, by key."""
        values = {KEYS.get(one.name, one.name): getattr(self, one.name) for one in fields(self)}
        return {key: _plain(value) for key, value in values.items() if value is not None and value not in ((), {})}

    def over(self, base: "RunSettings") -> "RunSettings":
        """These settings, completed by those of `base`; settings by name are merged, nodes are taken as a whole."""
        found: dict[str, Any] = {}
        for one in fields(self):
            own, other = getattr(self, one.name), getattr(base, one.name)
            if isinstance(own, Mapping):
                found[one.name] = {**other, **own}
            else:
                found[one.name] = other if own is None or own == () else own
        if self.infrastructure is not None and self.local_nodes is None:
            found["local_nodes"] = None
        if self.local_nodes is not None and self.infrastructure is None:
            found["infrastructure"] = None
        return RunSettings(**found)

    def _mistakes(self) -> list[Mistake]:
        found = []
        if self.infrastructure is not None and self.local_nodes is not None:
            what = "infrastructure and local_nodes both describe the nodes"
            found.append(Mistake(("local_nodes",), what, "give one of them"))
        for name, least in (("local_nodes", 1), ("trigger_ms", 0), ("key_groups", 1), ("seconds", 0)):
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and value >= least):
                key = KEYS.get(name, name)
                found.append(Mistake((key,), f"{key} is {value:g}", f"write a number >= {least}"))
        return found


def _plain(value: Any) -> Any:
    """The value in the types of YAML and JSON."""
    if isinstance(value, StrEnum):
        return value.value
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
