"""Applications of any size: the sequential and fat ones of ODP 7.3, and random layered ones by seed."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.latency import Constant

EXECUTION_MS = 1000.0
"""R_i = 1.0 s [ODP, Table 2]."""
RATE_TPS = 100.0
"""Tuples per second of the source. Assumed: 7.3 optimises the response time, which does not depend on it."""


def sequential(operators: int = 20, rate_tps: float = RATE_TPS) -> Application:
    """A pipeline of n operators with n - 1 streams, none pinned [ODP 7.3, Fig. 8 left, Table 2].

    Every tuple goes all the way (assumed).
    """
    names = _names(operators, at_least=2)
    streams = tuple(Stream(a, b) for a, b in pairwise(names))
    return Application(f"sequential-{operators}", _operators([names[:1], names[1:-1], names[-1:]], rate_tps), streams)


def fat(operators: int = 20, rate_tps: float = RATE_TPS) -> Application:
    """One source, n - 2 parallel operators, one sink; 2(n - 2) streams, none pinned [ODP 7.3, Fig. 8 right, Table 2].

    The layers follow from the numbers of variables in 7.3. Each parallel operator gets an equal share of the tuples
    (assumed).
    """
    names = _names(operators, at_least=3)
    (source, *middle, sink), share = names, 1 / (operators - 2)
    fan_out = tuple(Stream(source, name, selectivity=share) for name in middle)
    fan_in = tuple(Stream(name, sink) for name in middle)
    return Application(f"fat-{operators}", _operators([[source], middle, [sink]], rate_tps), fan_out + fan_in)


def layered(operators: int = 20, layers: int = 5, seed: int = 0, density: float = 0.3) -> Application:
    """A random layered graph: sources first, sinks last, streams only from one layer to the next. Ours, not a paper's.

    Every operator is fed by the layer before and feeds the layer after; `density` is the probability of each further
    stream. An operator's output is split evenly over its streams.
    """
    if not 2 <= layers <= operators:
        raise ValueError(f"need 2 <= layers <= operators, got {layers} layers of {operators} operators")
    rng = np.random.default_rng(seed)
    names = _names(operators, at_least=2)
    cuts = [0, *sorted(rng.choice(np.arange(1, operators), layers - 1, replace=False).tolist()), operators]
    ranks = [names[a:b] for a, b in pairwise(cuts)]
    edges = [edge for above, below in pairwise(ranks) for edge in _joined(above, below, density, rng)]
    outputs = {name: sum(source == name for source, _ in edges) for name in names}
    streams = tuple(Stream(a, b, selectivity=1 / outputs[a]) for a, b in edges)
    return Application(f"layered-{operators}-{layers}-seed{seed}", _operators(ranks, RATE_TPS), streams)


def heterogeneous(application: Application, seed: int = 0) -> Application:
    """The same graph with different operators: the baseline of 7.3 is homogeneous on purpose, real ones are not.

    Execution times are uniform in 0.5 to 1.5 times a second, resources 0.5, 1 or 1.5, and every selectivity is changed
    by a factor uniform in 0.5 to 1.5. Means are those of ODP's Table 2.
    """
    rng = np.random.default_rng(seed)
    operators = tuple(
        replace(
            operator,
            latency=Constant(float(rng.uniform(0.5, 1.5)) * EXECUTION_MS),
            resources=float(rng.choice([0.5, 1.0, 1.5])),
        )
        for operator in application.operators
    )
    streams = tuple(
        replace(stream, selectivity=stream.selectivity * float(rng.uniform(0.5, 1.5))) for stream in application.streams
    )
    return Application(f"{application.name}-heterogeneous-seed{seed}", operators, streams)


def _names(count: int, at_least: int) -> list[str]:
    """Names op01, op02, ..., padded so that their order is the order of flow."""
    if count < at_least:
        raise ValueError(f"need at least {at_least} operators, got {count}")
    return [f"op{number:0{len(str(count))}}" for number in range(1, count + 1)]


def _operators(ranks: list[list[str]], rate_tps: float) -> tuple[Operator, ...]:
    """Sources, operators in between, sinks: C_i = 1, R_i = 1 s, one replica each [ODP, Table 2]."""
    work = Constant(EXECUTION_MS)
    first, *middle, last = ranks
    return (
        *(Operator(name, Kind.SOURCE, latency=work, rate_tps=rate_tps) for name in first),
        *(Operator(name, latency=work) for rank in middle for name in rank),
        *(Operator(name, Kind.SINK, latency=work) for name in last),
    )


def _joined(above: list[str], below: list[str], density: float, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Edges between two layers: one into each below, one out of each above, and more at random; in name order."""
    edges = {(above[rng.integers(len(above))], name) for name in below}
    for name in above:
        if not any(source == name for source, _ in edges):
            edges.add((name, below[rng.integers(len(below))]))
    by_chance = rng.random((len(above), len(below))) < density
    edges |= {(above[i], below[j]) for i, j in np.argwhere(by_chance)}
    return sorted(edges)
