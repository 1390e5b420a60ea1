"""The settings of a control as a journal entry, complete enough to decide the journal again.

The entry holds the documents of application and infrastructure, the control settings, and what a planner was asked
with. It is written whenever managers are put on an application.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from rheostat.control.loop.ports import Entry
from rheostat.control.setup.control_settings import ControlSettings, settings_from_plain, settings_to_plain
from rheostat.control.setup.factory import Planning
from rheostat.errors import RheostatError
from rheostat.model.documents import read_application, read_infrastructure, read_objective, write
from rheostat.model.downtime.downtime_model import DowntimeModel
from rheostat.model.downtime.full_restart import FullRestart
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.model.graph.application import Application
from rheostat.model.network.resources import Infrastructure
from rheostat.planning.contract.problem import Limits
from rheostat.planning.planner_registry import PLANNERS

CONTROL = "control"
"""Kind of the entry."""
_DOWNTIMES: Mapping[str, type[PauseAndResume | FullRestart]] = {
    "pause-and-resume": PauseAndResume,
    "full-restart": FullRestart,
}


@dataclass(frozen=True)
class ControlRecord:
    """One control of an application."""

    settings: ControlSettings
    application: Application
    infrastructure: Infrastructure
    planning: Planning | None = None
    """None if no planner decides, or if the planner is none of the registry."""

    def entry(self, now_seconds: float) -> Entry:
        """The record as an entry of the journal."""
        facts = {
            "settings": settings_to_plain(self.settings),
            "application": write(self.application),
            "infrastructure": write(self.infrastructure),
            "planning": None if self.planning is None else _planning_to_plain(self.planning),
        }
        return Entry(CONTROL, now_seconds, facts)

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self:
        """The record that an entry holds. Documents are read from files, so they are written to a temporary folder."""
        with TemporaryDirectory() as folder:
            application = read_application(_file(folder, "application", facts["application"]))
            infrastructure = read_infrastructure(_file(folder, "infrastructure", facts["infrastructure"]))
            planning = None if facts["planning"] is None else _planning_from_plain(facts["planning"], folder)
        return cls(settings_from_plain(facts["settings"]), application, infrastructure, planning)


def _planning_to_plain(planning: Planning) -> dict[str, Any] | None:
    names = [name for name, entry in PLANNERS.items() if entry.planner == planning.planner]
    downtime = _downtime_to_plain(planning.downtime)
    if not names or downtime is None:
        return None
    return {
        "planner": names[0],
        "objective": write(planning.objective),
        "downtime": downtime,
        # JSON knows no infinity.
        "limit_seconds": planning.limits.seconds if planning.limits.seconds < float("inf") else None,
        "gap": planning.limits.gap,
        "hop_ms": planning.hop_ms,
        "starts_as_a_guess": planning.starts_as_a_guess,
    }


def _planning_from_plain(plain: Mapping[str, Any], folder: str) -> Planning:
    if plain["planner"] not in PLANNERS:
        raise RheostatError(f"the journal names the planner {plain['planner']!r}, which this version does not have")
    seconds = plain["limit_seconds"]
    return Planning(
        PLANNERS[plain["planner"]].planner,
        read_objective(_file(folder, "objective", plain["objective"])),
        _DOWNTIMES[plain["downtime"]["kind"]](plain["downtime"]["sync_seconds"]),
        Limits(float("inf") if seconds is None else seconds, plain["gap"]),
        plain["hop_ms"],
        plain["starts_as_a_guess"],
    )


def _downtime_to_plain(model: DowntimeModel) -> dict[str, Any] | None:
    for name, kind in _DOWNTIMES.items():
        if type(model) is kind:
            return {"kind": name, **asdict(model)}
    return None


def _file(folder: str, name: str, text: str) -> Path:
    path = Path(folder) / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path
