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
    """Everything but the managers: one scenario with one seed always gives the same world."""

    application: Application
    infrastructure: Infrastructure
    deployment: Deployment
    """The deployment at the start."""
    workload: Workload
    """Tuples of every source over time."""
    downtime: DowntimeModel = PauseAndResume()
    """Downtime model of changes."""
    behaviours: Mapping[str, Behaviour] = field(default_factory=dict)
    """Behaviour of operators beyond their latency models."""
    noise: Noise = Noise()
    supply: Supply = Supply()
    """Supply of further nodes."""
    failures: tuple[Failure, ...] = ()
    hop_ms: float = 0.0
    """Milliseconds that a stream pays for leaving its query."""
    step_seconds: float = 1.0
    """Length of a time step."""
    sample_seconds: float = 5.0
    """Time between two samples; each is the average since the last."""

    def __post_init__(self) -> None:
        """Rejects an impossible deployment and lists every reason."""
        if not all(isfinite(x) and x > 0 for x in (self.step_seconds, self.sample_seconds)):
            raise ValueError(f"steps and samples need lengths > 0 s, got {self.step_seconds}, {self.sample_seconds}")
        if reasons := reasons_against(self.application, self.infrastructure, self.deployment):
            raise InvalidModel("deployment", [Mistake((), reason) for reason in reasons])


def reasons_against(application: Application, infrastructure: Infrastructure, wanted: Deployment) -> tuple[str, ...]:
    """All reasons against a deployment, in words: allowed nodes, numbers of replicas, and capacity."""
    found = [f"{m.what}; {m.remedy}" for m in wanted.mistakes(application, infrastructure.index)]
    if found:
        return tuple(found)
    crowded = overloaded_nodes(Placed(application, infrastructure, wanted))
    return tuple(f"node {node!r} has {room:g} slots, {used:g} are needed" for node, (used, room) in crowded.items())
