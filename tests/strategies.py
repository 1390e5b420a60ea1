"""Arbitrary models for the laws: applications, infrastructures, deployments, latency models, objectives.

Every strategy gives sound values only. Graphs are arbitrary acyclic ones with several sources and sinks, in an
arbitrary order of declaration; networks are given by links, by a matrix or by neither.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import inf
from typing import Any

from hypothesis import strategies as st

from rheostat.model.graph.application import Application, Grouping, Kind, Operator, OutputMode, Stream
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.latency import MM1, Constant, LatencyModel, MicroBatch, Polynomial, Tabulated
from rheostat.model.network.links import Link, LinkQuality
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node, StoreAccess
from rheostat.model.quality.objective import Bounds, EdrpObjective, Objective, OdpObjective, Range
from rheostat.model.quality.qos import NetworkMetric
from rheostat.model.run_settings import NodeForm, RunSettings

PLAIN_NAMES = ("source", "parser", "filter", "count", "top", "sink", "a", "b", "c", "n1", "n2", "edge-1", "core_2")
ODD_NAMES = (
    "yes",
    "null",
    "~",
    "1",
    "1.5",
    "1e3",
    "a b",
    "a -> b",
    "on: off",
    "- x",
    "#1",
    "größe",
    "☃",
    "'",
    '"',
    "{",
    "a\nb",
)


@cache
def numbers(least: float = 0.0, greatest: float = 1000.0) -> st.SearchStrategy[float]:
    """Finite floats; round ones often, since they make examples one can read."""
    round_ones = st.integers(int(least) + (least > int(least)), int(greatest)).map(float)
    return round_ones | st.floats(least, greatest, allow_subnormal=False)


@cache
def names(at_least: int = 1, at_most: int = 6, *, odd: bool = False) -> st.SearchStrategy[list[str]]:
    """Different names; odd ones are what a careless writer of YAML would trip over."""
    text = st.sampled_from(PLAIN_NAMES)
    if odd:
        letters = st.characters(exclude_categories=("Cs",))
        anything = st.text(letters, min_size=1, max_size=5).map(str.strip).filter(bool)
        text = text | st.sampled_from(ODD_NAMES) | anything
    return st.lists(text, min_size=at_least, max_size=at_most, unique=True)


@cache
def probabilities() -> st.SearchStrategy[float]:
    """Above 0, up to 1; mostly what real machines have."""
    return st.sampled_from([1.0, 0.999, 0.99, 0.97, 0.5]) | st.floats(1e-3, 1.0)


@st.composite
def tabulated(draw: st.DrawFn) -> Tabulated:
    """Increasing loads, latencies that do not decrease."""
    loads = sorted(draw(st.lists(numbers(), min_size=1, max_size=4, unique=True)))
    latencies = sorted(draw(st.lists(numbers(), min_size=len(loads), max_size=len(loads))))
    return Tabulated(tuple(loads), tuple(latencies))


@cache
def latency_models() -> st.SearchStrategy[LatencyModel]:
    """All five models. Those that grow with the load have no negative coefficients, as the protocol promises."""
    curves = st.lists(numbers(0, 10), min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Constant, numbers(0, 100)),
        st.builds(MM1, numbers(1, 1000)),
        st.builds(MicroBatch, numbers(1, 1000), numbers(0, 100)),
        st.builds(Polynomial, curves, numbers(1, 1000) | st.just(inf)),
        tabulated(),
    )


@st.composite
def parameters(draw: st.DrawFn) -> tuple[tuple[str, str | int | float | bool], ...]:
    """Arguments of the user's function."""
    keys = draw(names(0, 2, odd=True))
    value = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(ODD_NAMES) | st.just("")
    return tuple((key, draw(value)) for key in keys)


@cache
def _confinements(nodes: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Mostly free; else some candidates, or a pin, or a pin among candidates."""
    if not nodes:
        return st.just({})
    some = st.lists(st.sampled_from(nodes), min_size=1, max_size=3, unique=True).map(tuple)
    return st.one_of(
        st.just({}),
        st.just({}),
        some.map(lambda chosen: {"candidates": chosen}),
        some.map(lambda chosen: {"pin": chosen[0]}),
        some.map(lambda chosen: {"pin": chosen[0], "candidates": tuple(sorted(chosen))}),
    )


@cache
def _traits(kind: Kind) -> st.SearchStrategy[dict[str, Any]]:
    """What an operator of this kind may say of itself, apart from its name, its latency and where it may run."""
    traits: dict[str, st.SearchStrategy[Any]] = {
        "resources": numbers(0, 4),
        "cost_per_hour": numbers(0, 4),
        "code_bytes": st.sampled_from([0, 1000, 5_000_000]),
        "code": st.sampled_from(["", "my_app.operators:sentences", "app:f"]),
        "event_time": st.sampled_from(["", "", "at"]),
        "watermark_seconds": st.sampled_from([None, None, 0.0, 7.5]),
        "parameters": st.just(()) | parameters(),
    }
    if kind is Kind.STATEFUL:
        traits["key"] = st.sampled_from([("word",), ("user", "word"), ("null",)])
        traits["output_mode"] = st.sampled_from(OutputMode)
        traits["state_bytes"] = st.sampled_from([0, 1376, 10_000_000])
    if kind is Kind.SOURCE:
        traits["rate_tps"] = numbers()
    return st.fixed_dictionaries(traits)


_REPLICAS = st.sampled_from([(1, 1), (1, 2), (1, 3), (2, 2), (2, 4)])


@st.composite
def operators(
    draw: st.DrawFn, name: str, kind: Kind, nodes: tuple[str, ...], latencies: st.SearchStrategy[LatencyModel]
) -> Operator:
    """An operator of this name and kind that can run on some of the nodes; a stateful one has a key."""
    least, most = draw(_REPLICAS)
    return Operator(
        name,
        kind,
        min_replicas=least,
        max_replicas=most,
        latency=draw(latencies),
        **draw(_traits(kind)),
        **draw(_confinements(nodes)),
    )


_FLOWS = st.tuples(st.sampled_from(Grouping), numbers(0, 3), st.none() | numbers())


@st.composite
def _edges(draw: st.DrawFn, size: int, sources: int) -> list[tuple[int, int]]:
    """Forward edges such that every vertex after the sources has a predecessor, in any order of declaration."""
    edges = [
        (i, j)
        for j in range(sources, size)
        for i in draw(st.lists(st.integers(0, j - 1), min_size=1, max_size=min(j, 3), unique=True))
    ]
    return draw(st.permutations(edges))


@st.composite
def applications(
    draw: st.DrawFn,
    nodes: Sequence[str] = (),
    max_operators: int = 6,
    *,
    latencies: st.SearchStrategy[LatencyModel] | None = None,
    odd_names: bool = False,
) -> Application:
    """An acyclic graph, every operator reached from a source; with nodes, some operators are pinned or restricted."""
    called = draw(names(1, max_operators, odd=odd_names))
    sources = draw(st.integers(1, max(1, len(called) // 2)))
    edges = draw(_edges(len(called), sources))
    feeding = {i for i, _ in edges}
    inner = st.sampled_from([Kind.STATELESS, Kind.STATEFUL])
    kinds = [
        Kind.SOURCE if i < sources else draw(inner if i in feeding else inner | st.just(Kind.SINK))
        for i in range(len(called))
    ]
    models = latencies or latency_models()
    declared = [draw(operators(name, kind, tuple(nodes), models)) for name, kind in zip(called, kinds, strict=True)]
    streams = [Stream(called[i], called[j], *draw(_FLOWS)) for i, j in edges]
    return Application("app", tuple(draw(st.permutations(declared))), tuple(streams))


@cache
def link_qualities() -> st.SearchStrategy[LinkQuality]:
    """What a link can offer."""
    return st.builds(
        LinkQuality,
        delay_ms=numbers(0, 200),
        transfer_mbps=st.sampled_from([10.0, 100.0, 1000.0, inf]),
        price=st.sampled_from([0.0, 0.02, 1.0]),
        availability=probabilities(),
        bandwidth_tps=st.just(inf) | numbers(1, 1000),
    )


@st.composite
def _links(draw: st.DrawFn, called: Sequence[str]) -> tuple[Link, ...]:
    """A tree both ways, so that everything is connected, and some links more, also one way only."""
    tree = [(draw(st.integers(0, j - 1)), j) for j in range(1, len(called))]
    more = draw(st.lists(st.tuples(*[st.integers(0, len(called) - 1)] * 2).filter(lambda e: e[0] != e[1]), max_size=3))
    ends = [(i, j, True) for i, j in tree] + [(i, j, draw(st.booleans())) for i, j in more]
    quality = link_qualities()
    return tuple(
        Link(called[i], called[j], draw(quality), both_ways=both) for i, j, both in draw(st.permutations(ends))
    )


@cache
def nodes() -> st.SearchStrategy[Node]:
    """Any node, still without a name of its own."""
    return st.builds(
        Node,
        st.just("node"),
        resources=st.none() | numbers(0, 16),
        worker_slots=st.integers(0, 4),
        executors_per_slot=st.integers(0, 4),
        speedup=st.sampled_from([1.0, 2.0, 0.5]) | st.floats(0.1, 10),
        availability=probabilities(),
        price_per_hour=st.sampled_from([0.0, 0.1, 2.5]),
        region=st.sampled_from(["", "milan", "rome"]),
        spawn_seconds=st.sampled_from([0.0, 0.5, 2.0]),
    )


@cache
def stores(called: tuple[str, ...]) -> st.SearchStrategy[StoreAccess]:
    """On one of the nodes, or equally far from all."""
    at, rate = st.none() | st.sampled_from(called), st.sampled_from([10.0, 100.0, 4000.0, inf])
    return st.just(StoreAccess()) | st.builds(StoreAccess, at, numbers(0, 50), rate, rate)


@cache
def _matrices(size: int) -> st.SearchStrategy[DelayMatrix]:
    """Delays both ways, as they happen to be measured: not symmetric, no triangle inequality."""
    flat = st.lists(numbers(0, 200), min_size=size * size, max_size=size * size)
    return flat.map(
        lambda delays: DelayMatrix.of(
            [[0.0 if u == v else delays[u * size + v] for v in range(size)] for u in range(size)]
        )
    )


@st.composite
def infrastructures(
    draw: st.DrawFn, at_least: int = 1, max_nodes: int = 5, *, odd_names: bool = False
) -> Infrastructure:
    """Nodes joined by links, by a matrix of delays, or by the default link alone."""
    called = draw(names(at_least, max_nodes, odd=odd_names))
    size = len(called)
    form = draw(st.sampled_from(["links", "matrix", "neither"] if size > 1 else ["matrix", "neither"]))
    return Infrastructure(
        "net",
        tuple(replace(draw(nodes()), name=name) for name in called),
        links=draw(_links(called)) if form == "links" else (),
        delays_ms=draw(_matrices(size)) if form == "matrix" else None,
        default_link=draw(st.just(LinkQuality()) | link_qualities()),
        store=draw(stores(tuple(called))),
    )


@st.composite
def deployments(draw: st.DrawFn, application: Application, infrastructure: Infrastructure) -> Deployment:
    """Every operator with as many replicas as it takes, on nodes it may run on."""
    placed = {}
    for operator in application.operators:
        allowed = [node.name for node in infrastructure.nodes if operator.may_run_on(node.name)]
        degree = draw(st.integers(operator.min_replicas, operator.max_replicas))
        chosen = draw(st.lists(st.sampled_from(allowed), min_size=degree, max_size=degree))
        placed[operator.name] = Replicas.on(*chosen)
    return Deployment.of(placed)


@st.composite
def placements(
    draw: st.DrawFn, max_operators: int = 6, max_nodes: int = 5, *, odd_names: bool = False
) -> tuple[Application, Infrastructure, Deployment]:
    """What fits together: an application, an infrastructure, a deployment of the one on the other."""
    infrastructure = draw(infrastructures(1, max_nodes, odd_names=odd_names))
    application = draw(applications(tuple(infrastructure.index), max_operators, odd_names=odd_names))
    return application, infrastructure, draw(deployments(application, infrastructure))


@cache
def weights(count: int = 3) -> st.SearchStrategy[tuple[float, ...]]:
    """Numbers from 0 to 1 that sum to 1, some of them 0."""
    shares = st.lists(st.integers(0, 10), min_size=count, max_size=count).filter(any)
    return shares.map(lambda drawn: tuple(share / sum(drawn) for share in drawn))


@cache
def ranges(least: float = 0.0, greatest: float = 1000.0) -> st.SearchStrategy[Range]:
    """Two ends in order, also equal ones."""
    return st.lists(numbers(least, greatest), min_size=2, max_size=2).map(lambda ends: Range(min(ends), max(ends)))


@st.composite
def edrp_objectives(draw: st.DrawFn) -> EdrpObjective:
    """Whatever is weighed is bounded."""
    drawn, bound, no_bound = draw(weights()), numbers(0.1, 1000), st.just(inf)
    limits = [draw(bound if weight > 0 else bound | no_bound) for weight in drawn]
    return EdrpObjective(*drawn[:3], bounds=Bounds(*limits, availability=draw(st.just(0.0) | probabilities())))


@st.composite
def odp_objectives(draw: st.DrawFn) -> OdpObjective:
    """With normalisers or without."""
    limit = st.just(inf) | numbers(0.1, 1000)
    return OdpObjective(
        *draw(weights()),
        network_metric=draw(st.sampled_from(NetworkMetric)),
        response_time_range=draw(st.none() | ranges()),
        availability_range=draw(st.none() | ranges(0.5, 1)),
        network_range=draw(st.none() | ranges()),
        bounds=draw(st.just(Bounds()) | st.builds(Bounds, limit, limit, limit, probabilities())),
    )


@cache
def objectives() -> st.SearchStrategy[Objective]:
    """Of both papers."""
    return edrp_objectives() | odp_objectives()


@cache
def runs() -> st.SearchStrategy[RunSettings]:
    """Settings of a run, most of them not given."""
    words = st.none() | st.sampled_from(["a.yaml", "shop.app:app", "1", "yes", "x y", "ü"])
    plain = st.sampled_from([1, 0.5, "text", True, "true", "2g"])
    named = st.dictionaries(st.sampled_from(["high", "1", "b c"]), plain, max_size=2)
    texts = st.dictionaries(st.sampled_from(["spark.a", "1"]), st.sampled_from(["2g", "true", "1"]), max_size=2)
    seconds = st.none() | st.sampled_from([0.5, 30.0])
    return st.builds(
        RunSettings,
        words.map(lambda word: word or "app.py"),
        infrastructure=words,
        directory=words,
        nodes=st.none() | st.sampled_from(NodeForm),
        master=st.lists(st.sampled_from(["local[2]", "n1=local"]), max_size=2).map(tuple),
        spark=texts,
        trigger_ms=st.none() | st.integers(0, 1000),
        seconds=seconds,
        until_drained=st.none() | st.booleans(),
        control=st.none() | st.sampled_from(["edf", "none"]),
        policy_settings=named,
        global_policy=words,
        global_settings=named,
        bounds_ms=st.dictionaries(st.sampled_from(["a", "1"]), st.sampled_from([1.0, 2.5]), max_size=2),
        period=seconds,
        control_settings=named,
        dry_run=st.none() | st.booleans(),
    )
