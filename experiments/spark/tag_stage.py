"""Tag-and-Count on eight embedded nodes with emulated delays, what flows between them, and nodes that fail."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import numpy as np
from examples.tag_and_count.answer import answer
from examples.tag_and_count.app import application
from examples.tag_and_count.sentences import sentence
from pyspark.sql import SparkSession

from experiments.spark.stage import Rows, Stage
from rheostat import sources
from rheostat.controller import Controller
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import DelayMatrix, Infrastructure
from rheostat.reference.networks import odp_testbed
from rheostat.reference.tag_and_count import TESTBED_PINS
from rheostat.runtime.channels.channel_store import open_channel
from rheostat.runtime.channels.port.places import last_epoch
from rheostat.runtime.nodes.spark_node import SparkNode
from rheostat.runtime.plan.blueprint import RuntimeSettings

S = 20.0
"""Delays are the paper's times s; the rate is not divided, since nothing is busy."""
RATE_TPS, EXECUTORS, SLOTS, GROUPS, SEED = 10.0, 2, 4, 4, 5
SINK = "consumer"


def network(seed: int, *, always_up: bool = False) -> Infrastructure:
    """The testbed with delays times s, and room for EPS_max executors on every worker."""
    drawn = odp_testbed(seed)
    nodes = tuple(
        replace(node, worker_slots=1, availability=1.0 if always_up else node.availability) for node in drawn.nodes
    )
    assert drawn.delays_ms is not None
    return replace(drawn, nodes=nodes, delays_ms=DelayMatrix.of(S * np.array(drawn.delays_ms.rows)))


def tag_and_count(seconds: float) -> Application:
    """Two replicas of each of the five operators, no more and no less; the ends stay where they are."""
    made = application(
        f"{RATE_TPS:g} for {seconds:g}", rate_tps=RATE_TPS, total=round(RATE_TPS * seconds), seed=SEED
    ).build()
    pins = dict(zip(("source", SINK), TESTBED_PINS, strict=True))
    operators = [
        replace(operator, pin=pins[operator.name], max_replicas=1)
        if operator.name in pins
        else replace(operator, min_replicas=EXECUTORS, max_replicas=EXECUTORS)
        for operator in made.operators
    ]
    return replace(made, operators=tuple(operators))


def stage(seconds: float, at: Infrastructure, placed: Deployment) -> Stage:
    """Ready to be run."""
    settings = RuntimeSettings(key_groups=GROUPS, trigger_ms=500, emulate_network=True)

    def differences(rows: Rows) -> tuple[int, int]:
        wanted = answer(sentence(sources.Draw(SEED, index))[1] for index in range(round(RATE_TPS * seconds)))
        got = {(row["tag"], row["word"]): row["text"] for row in rows}
        lost = sum(got.get(key) != text for key, text in wanted.items())
        return lost, sum(key not in wanted for key in got)

    return Stage(tag_and_count(seconds), at, placed, seconds, SINK, differences, settings)


def ages_ms(root: Path) -> Counter[float]:
    """How old rows were when they came out, and how many were so old: of the whole run."""
    log, found = open_channel(str(root / "results" / SINK)).log(), Counter[float]()
    for producer in log.producers():
        for epoch in range(1, (last_epoch(log, producer) or 0) + 1):
            for slot in log.slots(producer, epoch):
                manifest = log.entry(producer, epoch, slot)
                if manifest is not None:
                    found.update(dict(manifest.ingest.ages_ms(manifest.published_ms)))
    return found


def crossing_share(placed: Deployment, source: str, target: str) -> float:
    """Of what flows between two operators, what goes from one node to another."""
    before, after = placed[source], placed[target]
    same = sum(before[node] * after[node] for node in before)
    return 1 - same / (len(before) * len(after))


@dataclass
class Traffic:
    """Tuples per second between nodes, measured now and then."""

    measured_tps: list[float] = field(default_factory=list)
    _looked: float = 0.0

    def look(self, controller: Controller, seconds: float) -> None:
        """Once every ten seconds, the time over which rates are told."""
        if seconds - self._looked < 10.0:
            return
        self._looked = seconds
        placed = controller.runtime.deployment()
        streams = controller.status()["streams"]
        between = [one for one in streams if not one["inside"]]
        if any(one["rate_tps"] is None for one in between):
            # A replica has not reported: the sum of the others would be too small.
            return
        shares = [crossing_share(placed, one["from"], one["to"]) for one in between]
        self.measured_tps.append(sum(one["rate_tps"] * share for one, share in zip(between, shares, strict=True)))


@dataclass
class Outages:
    """Nodes that fail as often as their availability says: each once, for its share of the run."""

    spark: SparkSession
    waiting: list[tuple[float, str, bool]]
    """When, which node, and whether it comes back."""

    @classmethod
    def drawn(cls, spark: SparkSession, at: Infrastructure, seconds: float, random: Random) -> "Outages":
        """One outage for every node that is not always up, somewhere in the middle of the run."""
        events = []
        for node in at.nodes:
            down = (1 - node.availability) * seconds
            if down > 0:
                begin = random.uniform(0.2 * seconds, 0.9 * seconds)
                events += [(begin, node.name, False), (begin + down, node.name, True)]
        return cls(spark, sorted(events))

    @property
    def count(self) -> int:
        """How many are still to come."""
        return sum(not back for _, _, back in self.waiting)

    def look(self, controller: Controller, seconds: float) -> None:
        """Kills and brings back what is due."""
        while self.waiting and self.waiting[0][0] <= seconds:
            _, name, back = self.waiting.pop(0)
            if back:
                controller.runtime.use(SparkNode(name, self.spark, controller.runtime.blueprint.layout.root))
            else:
                next(node for node in controller.runtime.nodes_up() if node.name == name).kill()


def quantile(ages: Counter[float], share: float) -> float:
    """The age that so many rows do not exceed; 0 if there are none.

    >>> quantile(Counter({1.0: 9, 50.0: 1}), 0.9)
    1.0
    """
    passed, whole = 0, ages.total()
    for age in sorted(ages):
        passed += ages[age]
        if passed >= share * whole:
            return age
    return 0.0


def mean_age(ages: Counter[float]) -> float:
    """Over all rows; 0 if there are none."""
    return sum(age * rows for age, rows in ages.items()) / ages.total() if ages else 0.0


def on_weak_nodes(placed: Deployment, at: Infrastructure) -> int:
    """Executors on nodes that are not always up."""
    weak = {node.name for node in at.nodes if node.availability < 1}
    return sum(replicas[name] for _, replicas in placed.items() for name in replicas if name in weak)


def busiest_seed(placements: Sequence[tuple[int, int]]) -> int:
    """Of (seed, executors on weak nodes) the seed with most of them, the first if several have."""
    return max(placements, key=lambda one: (one[1], -one[0]))[0]
