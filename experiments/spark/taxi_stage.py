"""Taxi routes on three embedded nodes with emulated service times: what EDF 9 and EDRP 7.3 ran, s times as slow.

On Spark operators that run in the same place become one query, where Storm would have an executor for each. So the
work of a query is put on one of its operators, the only one there that may have several replicas: `parser` for the
stateless three, `countByWindow` for counting and ranking, which gets one tuple per trip as EDF's partialRank does.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from examples.taxi_routes.answer import answer
from examples.taxi_routes.app import SPEED_UP, application
from examples.taxi_routes.definition import EVENT_TIME_STEP_MS

from experiments.spark.stage import Rows, Stage
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.latency import MM1, Constant
from rheostat.model.graph.rate_curve import parse_curve
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.ends.generation import generation_of
from rheostat.runtime.plan.blueprint import RuntimeSettings

S = 20.0
"""The factor: service times and response times are the papers' times s, rates the papers' by s."""
GROUPS, TRIGGER_MS = 4, 500
SCALED = ("parser", "countByWindow")
SINK = "rankings"
NODES = Infrastructure("three sites", tuple(Node(name, 8) for name in ("north", "centre", "south")))
AT_FIRST = Deployment.of(
    {
        **{name: {"north": 1} for name in ("dataSource", "metronome")},
        **{name: {"south": 1} for name in ("parser", "filterByCoordinates", "computeRouteID")},
        "countByWindow": {"centre": 1},
        **{name: {"south": 1} for name in ("partialRank", "globalRank", SINK)},
    }
)


@dataclass(frozen=True, slots=True)
class Trips:
    """A load of trips: days that pass in minutes."""

    least_tps: float
    """Of the paper, before s."""
    greatest_tps: float
    days: int
    seconds: float
    """Of all days together."""
    seed: int = 7

    @property
    def curve(self) -> str:
        """As text that a source understands: two rush hours a day."""
        return f"day {self.least_tps / S:g} {self.greatest_tps / S:g} {self.seconds / self.days:g} for {self.seconds:g}"

    @property
    def total(self) -> int:
        """Trips in all."""
        return parse_curve(self.curve).rows_after(self.seconds)

    def stage(self, capacities_tps: Mapping[str, float], most_replicas: int) -> Stage:
        """Ready to be run; capacities are those of a replica in the paper, before s."""
        return Stage(
            self._application(capacities_tps, most_replicas),
            NODES,
            AT_FIRST,
            self.seconds,
            SINK,
            self.differences,
            RuntimeSettings(key_groups=GROUPS, trigger_ms=TRIGGER_MS, patience_seconds=300.0),
            300.0,
        )

    def _application(self, capacities_tps: Mapping[str, float], most_replicas: int) -> Application:
        whole = application(self.curve, groups=GROUPS, total=self.total, seed=self.seed, rate_tps=self.least_tps / S)
        operators = []
        for operator in whole.operators:
            capacity = capacities_tps.get(operator.name)
            if capacity is None:
                # The papers count no sink: it is free.
                cost = 0.0 if operator.name == SINK else operator.cost_per_hour
                operators.append(replace(operator, max_replicas=1, latency=Constant(), cost_per_hour=cost))
                continue
            served = (*operator.parameters, ("service_ms", 1000 * S / capacity))
            queue = MM1(capacity / S)
            operators.append(replace(operator, parameters=served, max_replicas=most_replicas, latency=queue))
        return replace(whole, operators=tuple(operators))

    def differences(self, rows: Rows) -> tuple[int, int]:
        """Rankings of minutes that are missing or wrong, and such that are too many or wrong."""
        got = Counter((int(row["minute"].timestamp()) // 60, _ranking(row["ranking"])) for row in rows)
        described = {"rows": "examples.taxi_routes.trips:trip", "curve": self.curve, "event_time": "ts"}
        limits = {"speed_up": SPEED_UP, "step_ms": EVENT_TIME_STEP_MS, "total": self.total, "seed": self.seed}
        source = generation_of({**described, **{name: str(value) for name, value in limits.items()}})
        wanted = Counter(answer([(at or 0, values[0]) for at, values in source.rows(0, self.total)]).items())
        return (wanted - got).total(), (got - wanted).total()


def _ranking(value: list[dict[str, object]]) -> tuple[tuple[str, int], ...]:
    return tuple((str(entry["route"]), int(str(entry["trips"]))) for entry in value)
