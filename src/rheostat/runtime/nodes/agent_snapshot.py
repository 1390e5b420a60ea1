"""The snapshot of a run that its agents are given: the managers there measure the application by themselves."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from rheostat.control.setup.control_settings import ControlSettings, settings_from_plain, settings_to_plain
from rheostat.model.documents import application_of, infrastructure_of, write
from rheostat.model.graph.application import Application
from rheostat.model.network.resources import Infrastructure
from rheostat.runtime.plan.blueprint import Blueprint, RuntimeSettings
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.physical_plan import PhysicalPlan
from rheostat.runtime.plan.run_paths import RunPaths


@dataclass(frozen=True)
class AgentSnapshot:
    """An application, its nodes, the plan that runs on them, and the settings of its managers."""

    application: Application
    infrastructure: Infrastructure
    """The nodes that are up."""
    columns: Mapping[str, Columns]
    settings: RuntimeSettings
    plan: PhysicalPlan
    stand_ins: Mapping[str, str]
    """Instance -> where it runs, if its own node is lost."""
    control: ControlSettings
    sample_seconds: float
    """How often everything is measured."""

    def blueprint(self, root: Path) -> Blueprint:
        """The blueprint for an agent with this directory."""
        return Blueprint(self.application, self.infrastructure, RunPaths(root), self.columns, self.settings)

    def to_plain(self) -> dict[str, Any]:
        """As a document."""
        return {
            "application": write(self.application),
            "infrastructure": write(self.infrastructure),
            "columns": {name: asdict(columns) for name, columns in self.columns.items()},
            "settings": asdict(self.settings),
            "plan": self.plan.to_dict(),
            "stand_ins": dict(self.stand_ins),
            "control": settings_to_plain(self.control),
            "sample_seconds": self.sample_seconds,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The snapshot that `to_plain` gave."""
        return cls(
            application_of(plain["application"]),
            infrastructure_of(plain["infrastructure"]),
            {name: Columns(**columns) for name, columns in plain["columns"].items()},
            RuntimeSettings(**plain["settings"]),
            PhysicalPlan.from_dict(plain["plan"]),
            dict(plain["stand_ins"]),
            settings_from_plain(plain["control"]),
            float(plain["sample_seconds"]),
        )


def fingerprint(snapshot: AgentSnapshot) -> str:
    """A digest that is the same for equal snapshots, and different for others."""
    return sha256(json.dumps(snapshot.to_plain(), sort_keys=True).encode()).hexdigest()
