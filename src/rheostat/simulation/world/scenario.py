"""Scenario: an application on an infrastructure, its workloads, and the behaviour of the world."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.downtime.downtime_model import DowntimeModel
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.evaluation import overloaded_nodes
from rheostat.model.quality.placed import Placed
from rheostat.simulation.load.workload import Workload
from rheostat.simulation.queues.noise import Noise
from rheostat.simulation.queues.servers import Behaviour
from rheostat.simulation.world.node_failures import Failure
from rheostat.simulation.world.node_supply import Supply


@dataclass(frozen=True)
class Scenario:
    """Everything but the managers: two worlds of one scenario and one seed are the same world."""

    application: Application
    infrastructure: Infrastructure
    deployment: Deployment
    """What runs at the start."""
    workload: Workload
    """What every source brings."""
    downtime: DowntimeModel = PauseAndResume()
    """What a change costs."""
    behaviours: Mapping[str, Behaviour] = field(default_factory=dict)
    """Of operators that do more than their latency model says."""
    noise: Noise = Noise()
    supply: Supply = Supply()
    """Where further nodes come from."""
    failures: tuple[Failure, ...] = ()
    hop_ms: float = 0.0
    """What a stream pays for leaving its query."""
    step_seconds: float = 1.0
    """Time is computed in steps of this length."""
    sample_seconds: float = 5.0
    """Everything is measured this often, on average over the time since the last."""

    def __post_init__(self) -> None:
        """Refuses what could not run, naming every reason."""
        if not all(isfinite(x) and x > 0 for x in (self.step_seconds, self.sample_seconds)):
            raise ValueError(f"steps and samples need lengths > 0 s, got {self.step_seconds}, {self.sample_seconds}")
        if reasons := impossible(self.application, self.infrastructure, self.deployment):
            raise InvalidModel("deployment", [Mistake((), reason) for reason in reasons])


def impossible(application: Application, infrastructure: Infrastructure, wanted: Deployment) -> tuple[str, ...]:
    """Everything that forbids a deployment, in words: who may run where, how often, and whether it fits."""
    found = [f"{m.what}; {m.remedy}" for m in wanted.mistakes(application, infrastructure.index)]
    if found:
        return tuple(found)
    crowded = overloaded_nodes(Placed(application, infrastructure, wanted))
    return tuple(f"node {node!r} has {room:g} slots, {used:g} are needed" for node, (used, room) in crowded.items())
