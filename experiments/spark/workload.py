"""Word Count whose splitter takes its time: what a rate does to it, and how many replicas it needs, is known."""

from collections.abc import Sequence
from dataclasses import dataclass

from examples.word_count.answer import answer
from examples.word_count.app import counter, datasource, split
from examples.word_count.sentences import sentence

from experiments.spark.stage import Rows, Stage, counted_differences
from rheostat import App, sources
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.latency import MM1
from rheostat.model.graph.rate_curve import parse_curve
from rheostat.model.network.resources import Infrastructure, Node

SERVICE_MS = 20.0
"""What a sentence costs a replica of `split`: it can do 50 a second."""
SELECTIVITY = 10.0
MOST_REPLICAS = 4


@dataclass(frozen=True, slots=True)
class Phase:
    """So many sentences a second for so long, or from so many to another number."""

    rate_tps: float
    seconds: float
    last_tps: float | None = None
    """The rate at its end, reached evenly; None: it stays the same."""

    @property
    def curve(self) -> str:
        """As text that a source understands."""
        shape = f"{self.rate_tps:g}" if self.last_tps is None else f"ramp {self.rate_tps:g} {self.last_tps:g}"
        return f"{shape} for {self.seconds:g}"


TRIPLED = (Phase(20, 30), Phase(60, 40), Phase(20, 40))
"""A load that triples and falls back: 0.4, then 1.2, then 0.4 replicas' worth of work."""


THREE_NODES = Infrastructure("three", tuple(Node(name, 4, price_per_hour=1.0) for name in ("n1", "n2", "n3")))
AT_FIRST = Deployment.of({"datasource": {"n1": 1}, "split": {"n2": 1}, "counter": {"n3": 1}, "consumer": {"n1": 1}})


@dataclass(frozen=True, slots=True)
class Load:
    """A finite run."""

    phases: Sequence[Phase] = TRIPLED
    seed: int = 3

    @property
    def seconds(self) -> float:
        """How long the source brings anything."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def total(self) -> int:
        """Sentences in all."""
        return parse_curve(self.curve).rows_after(self.seconds)

    @property
    def curve(self) -> str:
        """All phases as text that a source understands."""
        return "; ".join(phase.curve for phase in self.phases)

    def application(self) -> Application:
        """Each operator may grow on any node but its ends, which stay where they are."""
        parameters = {"curve": self.curve, "seed": self.seed, "total": self.total}
        app = App("busy-words")
        app.source("datasource", datasource, rate_tps=self.phases[0].rate_tps, pin="n1", parameters=parameters)
        app.operator(
            split,
            reads="datasource",
            parameters={"service_ms": SERVICE_MS},
            max_replicas=MOST_REPLICAS,
            latency=MM1(1000 / SERVICE_MS),
        )
        app.operator(counter, reads="split", selectivity=SELECTIVITY, max_replicas=2, latency=MM1(5000.0))
        app.sink("consumer", reads="counter", pin="n1")
        return app.build()

    def counts(self) -> dict[str, int]:
        """What must come out, computed without Spark."""
        return dict(answer(sentence(sources.Draw(self.seed, index))[0] for index in range(self.total)))

    def differences(self, rows: Rows) -> tuple[int, int]:
        """Words that were counted too seldom and too often; of a word the last row counts."""
        return counted_differences(self.counts(), {row["word"]: row["count"] for row in rows})

    def stage(self, infrastructure: Infrastructure = THREE_NODES, at_first: Deployment = AT_FIRST) -> Stage:
        """Ready to be run."""
        return Stage(self.application(), infrastructure, at_first, self.seconds, "consumer", self.differences)
