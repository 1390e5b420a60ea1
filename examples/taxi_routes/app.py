"""Taxi routes [EDRP 7.1]: the ten most frequent routes of the last 30 minutes, once per minute of event time.

```
dataSource ─> parser ─> filterByCoordinates ─> computeRouteID ─> countByWindow ─> partialRank ─> globalRank
    └──────> metronome ──────────────────────────────────────────────┴─────────────────┘
```

Columns and the reasons for them: `routes.py` (stateless), `ticks.py` (metronome), `ranking.py` (counting and ranking).
"""

from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from examples.taxi_routes.definition import EVENT_TIME_FIELD, EVENT_TIME_STEP_MS
from examples.taxi_routes.ranking import count_by_window, global_rank, partial_rank
from examples.taxi_routes.routes import compute_route_id, filter_by_coordinates, parser
from examples.taxi_routes.ticks import metronome
from rheostat import App, sources
from rheostat.model.graph.application import Application, Stream
from rheostat.reference.taxi import taxi

PAPER_CURVE = "ramp 70 220 for 1800; ramp 220 70 for 1800"
"""Trips per second in EDRP 7.2."""
SPEED_UP = 60
"""A minute of event time per second, as in EDRP 7.3."""


def generated_trips(spark: SparkSession, **parameters: str | float | bool) -> DataFrame:
    """Random trip reports; the parameters are those of `rheostat.runtime.ends.rate`."""
    described = {"event_time": "ts", "speed_up": SPEED_UP, "step_ms": EVENT_TIME_STEP_MS, **parameters}
    return sources.rate(spark, rows="examples.taxi_routes.trips:trip", schema="line string", **described)


def recorded_trips(spark: SparkSession, *, path: str, **parameters: str | float | bool) -> DataFrame:
    """The challenge's own files; the parameters are those of `rheostat.runtime.ends.replay_source`."""
    described = {"speed_up": SPEED_UP, "surrogates": "0,1", **parameters}
    return sources.replay(spark, path=path, form="csv", event_time=str(EVENT_TIME_FIELD), **described)


def application(
    curve: str = PAPER_CURVE,
    *,
    groups: int = 8,
    path: str = "",
    rate_tps: float = 70.0,
    max_replicas: int = 3,
    **source: str | float | bool,
) -> Application:
    """The application.

    `groups` is the number of key groups its state is kept in: at most as many as the runtime has. With a `path`
    recorded trips are replayed, else trips are generated along the `curve`. `source`: seed, total, pace, ...
    """
    table = {operator.name: operator for operator in taxi(rate_tps, max_replicas).operators}

    def known(name: str) -> dict[str, Any]:
        """What Table II says."""
        fields = ("max_replicas", "latency", "state_bytes", "code_bytes")
        return {"name": name} | {field: getattr(table[name], field) for field in fields}

    app, grouped = App("taxi-routes"), {"groups": groups}
    origin = {"path": path} if path else {"curve": curve}
    trips = recorded_trips if path else generated_trips
    app.source(
        function=trips, rate_tps=rate_tps, event_time="ts", parameters={**origin, **source}, **known("dataSource")
    )
    app.operator(metronome, reads="dataSource", grouping="single", parameters=grouped, **known("metronome"))
    app.operator(parser, reads="dataSource", **known("parser"))
    app.operator(filter_by_coordinates, reads="parser", **known("filterByCoordinates"))
    app.operator(compute_route_id, reads="filterByCoordinates", parameters=grouped, **known("computeRouteID"))
    app.operator(
        count_by_window,
        reads=("computeRouteID", "metronome"),
        grouping=("key", "broadcast"),
        **known("countByWindow"),
    )
    app.operator(
        partial_rank, reads=("countByWindow", "metronome"), grouping=("key", "broadcast"), **known("partialRank")
    )
    app.operator(global_rank, reads="partialRank", grouping="single", parameters=grouped, **known("globalRank"))
    app.sink("rankings", reads="globalRank")
    return _with_known_rates(app.build(), {stream.ends: stream for stream in taxi(rate_tps).streams})


def _with_known_rates(application: Application, known: dict[tuple[str, str], Stream]) -> Application:
    """Selectivities and rates as the reference application has them."""
    rated = (
        replace(stream, selectivity=known[stream.ends].selectivity, rate_tps=known[stream.ends].rate_tps)
        if stream.ends in known
        else stream
        for stream in application.streams
    )
    return replace(application, streams=tuple(rated))
