"""Duration of one control step for 1,000 operators on 1,000 nodes.

All operator managers (threshold), all node managers, and the application manager with its token bucket, everything
journaled; the world itself is not counted, only asking it. The goal: under 1 s. Run it with
`python benchmarks/control_step.py`; it exits with 1 if the goal is missed by the median of several steps.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rheostat.control.history.journal import MemoryJournal
from rheostat.control.loop.clocks import VirtualClock
from rheostat.control.loop.ports import Done, Effect
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import World, build
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.latency import MM1
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node
from rheostat.model.observation import Sample, Subject

OPERATORS, NODES, STEPS = 1_000, 1_000, 7
PERIOD_SECONDS, GOAL_SECONDS = 30.0, 1.0


@dataclass
class Crowd:
    """A world of busy operators: half of them would like to grow, some nodes are overloaded, all is slow."""

    application: Application
    at: Infrastructure
    deployed: Deployment
    clock: VirtualClock = field(default_factory=VirtualClock)
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))
    measured: list[Sample] = field(default_factory=list)

    def measure(self) -> None:
        """Draws the samples of a period beforehand: they are not part of the step."""
        now = self.clock.now_seconds()
        samples = [Sample(Subject.application("crowd"), now, {"response_mean_ms": 400.0})]
        for operator, replicas in self.deployed.items():
            busy = float(self.random.uniform(0.4, 1.0))
            figures = {"utilization": busy, "input_rate": 100.0, "latency_ms": 20.0, "true_rate": 120.0, "backlog": 0.0}
            samples.append(Sample(Subject.operator(operator), now, figures))
            samples += [Sample(Subject.instance(operator, u), now, {"utilization": busy}) for u in replicas]
        loads = self.random.uniform(0.1, 0.9, NODES).tolist()
        samples += [
            Sample(Subject.node(node.name), now, {"cpu": load}) for node, load in zip(self.at.nodes, loads, strict=True)
        ]
        self.measured = samples

    def samples(self) -> Sequence[Sample]:
        """Each once."""
        taken, self.measured = self.measured, []
        return taken

    def deployment(self) -> Deployment:
        """What runs."""
        return self.deployed

    def infrastructure(self) -> Infrastructure:
        """All nodes."""
        return self.at

    def apply(self, change: Reconfiguration) -> Effect:
        """Done at once."""
        self.deployed = change.apply(self.deployed)
        return Done(0.0)


def crowd() -> Crowd:
    """A tree of operators, two replicas each, scattered over nodes with four slots."""
    random = np.random.default_rng(1)
    names = [f"o{i:04}" for i in range(OPERATORS)]
    operators = [Operator(names[0], Kind.SOURCE, rate_tps=100, latency=MM1(1e6), max_replicas=4)]
    operators += [Operator(name, latency=MM1(1e6), max_replicas=4) for name in names[1:]]
    streams = [Stream(names[(i - 1) // 3], names[i]) for i in range(1, OPERATORS)]
    delays = DelayMatrix.of(random.uniform(1, 80, (NODES, NODES)))
    at = Infrastructure("large", tuple(Node(f"n{i:04}", 4.0) for i in range(NODES)), delays_ms=delays)
    placed = {name: Replicas.on(f"n{i % NODES:04}", f"n{(7 * i + 3) % NODES:04}") for i, name in enumerate(names)}
    return Crowd(Application("crowd", tuple(operators), tuple(streams)), at, Deployment.of(placed))


def main() -> int:
    """Prints one table and says whether the goal was met."""
    world, journal = crowd(), MemoryJournal()
    settings = ControlSettings("edf", granting="token-bucket", migrations=True, settle_seconds=0.0)
    control = build(settings, World(world.application, world, world, world.clock, journal))
    _ = world.at.network, world.application.rates
    seconds = []
    for step in range(STEPS):
        now = PERIOD_SECONDS * step
        world.clock.wait_until(now)
        world.measure()
        began = time.perf_counter()
        for loop in control.loops:
            loop.step(now)
        seconds.append(time.perf_counter() - began)
    requests = [len(entry.facts["requests"]) for _, entry in journal.read(kind="decision")]  # type: ignore[arg-type]
    assert min(requests) > 100, "the managers must have something to decide"
    median = float(np.median(seconds))
    print("| operators | nodes | managers | requests per step | first s | median s | goal s |")
    print("|---|---|---|---|---|---|---|")
    print(
        f"| {OPERATORS} | {NODES} | {len(control.operators) + NODES + 1} | {int(np.median(requests))} "
        f"| {seconds[0]:.2f} | {median:.2f} | {GOAL_SECONDS:g} |"
    )
    return int(median > GOAL_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
