"""The reference application of EDRP: the ten most frequent taxi routes of the last half hour (DEBS 2015, query 1).

```
dataSource ─> parser ─> filterByCoordinates ─> computeRouteID ─> countByWindow ─> partialRank ─> globalRank
    └──────> metronome ──────────────────────────────────────────────┴─────────────────┘
```

Table II gives service rates and state sizes. The edges of Fig. 4 and the rates of the streams are not in the text:
`docs/assumptions.md` lists what is taken instead, and why.
"""

from dataclasses import replace

from rheostat.model.graph.application import Application, Grouping, Kind, Operator, Stream
from rheostat.model.graph.latency import MM1

CODE_BYTES = 300_000
"""I_C,i = 300 KB, for every operator [EDRP, Table II]."""
COUNTS_PER_TUPLE = 21
"""Tuples countByWindow sends to partialRank per tuple of the source. Derived: EDRP 7.2 replicates partialRank
(2371 tuples/s) first, at about 105 tuples/s of the source, so its input must be some 21 times as fast."""
RANKS_PER_TICK = 10
"""Routes partialRank sends to globalRank per tick. Assumed: its top ten, as one replica alone would send them; r
replicas send r times as many, still hardly any of the 3000 tuples/s that globalRank serves."""


def taxi(
    rate_tps: float = 70.0,
    max_replicas: int = 2,
    pins: tuple[str, str] | None = None,
    ticks_tps: float = 1.0,
) -> Application:
    """The reference application [EDRP 7.1, Fig. 4, Table II].

    `rate_tps`: what the source emits, 70 to 220 in 7.2. `max_replicas`: k, 2 in 7.2 and 3 in 7.3; source, metronome and
    globalRank always have 1. `pins`: the nodes of data source and globalRank, which 7.2 and 7.3 pin and Table IV does
    not. `ticks_tps`: how often the metronome pulses. One tick per second is one minute of event time in the sixty-fold
    replay of 7.3; it is assumed for 7.2 too.

    The metronome sees every tuple of the source and ticks at its own rate, whatever the source does.
    """
    operators = _operators(max_replicas)
    operators["dataSource"] = replace(operators["dataSource"], rate_tps=rate_tps)
    if pins is not None:
        for name, node in zip(("dataSource", "globalRank"), pins, strict=True):
            operators[name] = replace(operators[name], pin=node)
    return Application("taxi", tuple(operators.values()), _streams(rate_tps, ticks_tps))


def _operators(max_replicas: int) -> dict[str, Operator]:
    """Table II, in its order; keys are ours: routes are counted and ranked by route, time goes by minute."""
    return {
        operator.name: operator
        for operator in (
            _operator("dataSource", 284, 1, Kind.SOURCE, state_bytes=82),
            _operator("parser", 233, max_replicas),
            _operator("filterByCoordinates", 253, max_replicas),
            _operator("computeRouteID", 253, max_replicas),
            _operator("metronome", 300, 1, Kind.STATEFUL, key=("minute",), state_bytes=328),
            _operator("countByWindow", 335, max_replicas, Kind.STATEFUL, key=("route",), state_bytes=1376),
            _operator("partialRank", 2371, max_replicas, Kind.STATEFUL, key=("route",), state_bytes=1536),
            _operator("globalRank", 3000, 1, Kind.STATEFUL, key=("minute",), state_bytes=480),
        )
    }


def _operator(
    name: str,
    service_rate_tps: float,
    replicas: int,
    kind: Kind = Kind.STATELESS,
    *,
    key: tuple[str, ...] = (),
    state_bytes: int = 0,
) -> Operator:
    """One line of Table II as an M/M/1 queue (7.2) with C_i = 1 $/h and Res_i = 1."""
    return Operator(
        name=name,
        kind=kind,
        key=key,
        max_replicas=replicas,
        resources=1.0,
        cost_per_hour=1.0,
        code_bytes=CODE_BYTES,
        state_bytes=state_bytes,
        latency=MM1(service_rate_tps),
    )


def _streams(rate_tps: float, ticks_tps: float) -> tuple[Stream, ...]:
    """Nine edges: the only number that fits Table IV's counts of variables without pins (see `program_size`)."""
    return (
        Stream("dataSource", "parser"),
        Stream("parser", "filterByCoordinates"),
        Stream("filterByCoordinates", "computeRouteID"),
        Stream("computeRouteID", "countByWindow", Grouping.KEY),
        Stream("countByWindow", "partialRank", Grouping.KEY, selectivity=_count_selectivity(rate_tps, ticks_tps)),
        Stream("partialRank", "globalRank", Grouping.SINGLE, rate_tps=RANKS_PER_TICK * ticks_tps),
        Stream("dataSource", "metronome", Grouping.SINGLE),
        Stream("metronome", "countByWindow", Grouping.BROADCAST, rate_tps=ticks_tps),
        Stream("metronome", "partialRank", Grouping.BROADCAST, rate_tps=ticks_tps),
    )


def _count_selectivity(rate_tps: float, ticks_tps: float) -> float:
    """Selectivity with which countByWindow emits 21 times the source's rate, though it receives the ticks as well.

    A selectivity multiplies everything an operator receives. So this one is exact at `rate_tps`; an application built
    at 70 tuples/s and moved to 220 by `with_source_rate` is 1 % too low there. Build it at the rate instead.
    """
    received = rate_tps + ticks_tps
    return COUNTS_PER_TUPLE * rate_tps / received if received else float(COUNTS_PER_TUPLE)
