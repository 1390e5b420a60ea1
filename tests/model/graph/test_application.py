"""An application that exists is sound; one that is not tells everything that is wrong with it."""

from math import nan

import pytest

from rheostat.errors import InvalidModel
from rheostat.model.graph.application import RESULTS_SINK, Application, Grouping, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.fragments import fragments

SOURCE = Operator("source", Kind.SOURCE, rate_tps=100)


def test_rates_propagate_from_the_source_through_selectivities_and_fixed_rates():
    application = Application(
        "rates",
        (SOURCE, Operator("split"), Operator("tick"), Operator("count")),
        (
            Stream("source", "split", selectivity=0.5),
            Stream("source", "tick"),
            Stream("split", "count", selectivity=10),
            Stream("tick", "count", rate_tps=1),
        ),
    )
    assert application.rates.operators == {"source": 100, "split": 50, "tick": 100, "count": 501}
    assert application.with_source_rate(10).rates.operators["count"] == 51


def test_every_mistake_is_told_at_once():
    with pytest.raises(InvalidModel) as refusal:
        Application(
            "broken",
            (
                SOURCE,
                Operator("count", Kind.STATEFUL, max_replicas=0, resources=-1),
                Operator("lonely", rate_tps=3),
                Operator("source"),
                Operator("sink", Kind.SINK, pin="a", candidates=("b",)),
            ),
            (Stream("source", "cuont"), Stream("sink", "count", selectivity=nan), Stream("count", "source")),
        )
    told = "\n".join(str(mistake) for mistake in refusal.value.mistakes)
    for part in (
        "operators.1.key: stateful operator 'count' has no key",
        "operators.1.max_replicas",
        "operators.1.resources: -1",
        "operators.2.rate_tps: only a source",
        "operators.3.name: the name 'source' is used twice",
        "operators.4.pin",
        "streams.0.to: there is no operator 'cuont'; did you mean 'count'?",
        "streams.1.selectivity: nan",
        "sink 'sink' has an outgoing stream",
        "no source reaches operator 'lonely'",
    ):
        assert part in told


def test_a_cycle_is_named_along_its_streams():
    with pytest.raises(InvalidModel, match=r"cycle: (b -> c -> d -> b|c -> d -> b -> c|d -> b -> c -> d)"):
        Application(
            "round",
            (Operator("a", Kind.SOURCE), Operator("b"), Operator("c"), Operator("d"), Operator("e")),
            (Stream("a", "b"), Stream("b", "c"), Stream("c", "d"), Stream("d", "b"), Stream("d", "e")),
        )


def test_a_stream_to_itself_is_a_cycle():
    with pytest.raises(InvalidModel, match="cycle: b -> b"):
        Application("loop", (SOURCE, Operator("b")), (Stream("source", "b"), Stream("b", "b")))


CHAIN = Application(
    "chain",
    (
        SOURCE,
        Operator("parse", max_replicas=4),
        Operator("count", Kind.STATEFUL, key=("word",), max_replicas=4),
        Operator("rank", Kind.STATEFUL, key=("minute",), max_replicas=4),
        Operator("print", Kind.SINK, max_replicas=4),
    ),
    (
        Stream("source", "parse"),
        Stream("parse", "count", Grouping.KEY),
        Stream("count", "rank", Grouping.KEY),
        Stream("rank", "print"),
    ),
)


@pytest.mark.parametrize(
    ("deployment", "chains"),
    [
        pytest.param(
            {"source": {"a": 1}, "parse": {"a": 1}, "count": {"a": 1}, "rank": {"a": 1}, "print": {"a": 1}},
            ["source+parse+count", "rank+print"],
            id="all on one node: a chain ends where a second state would begin",
        ),
        pytest.param(
            {"source": {"a": 1}, "parse": {"a": 2}, "count": {"a": 2}, "rank": {"b": 1}, "print": {"b": 1}},
            ["source", "parse+count", "rank+print"],
            id="other numbers of replicas or other nodes cut",
        ),
        pytest.param(
            {"source": {"a": 1}, "parse": {"a": 1, "b": 1}, "count": {"a": 1, "b": 1}, "rank": {"a": 1, "b": 1}}
            | {"print": {"a": 1, "b": 1}},
            ["source", "parse", "count", "rank+print"],
            id="a state spread over nodes needs its input routed by its key",
        ),
    ],
)
def test_fragments(deployment, chains):
    found = fragments(CHAIN, Deployment.of(deployment))
    assert ["+".join(fragment.operators) for fragment in found] == chains


def test_a_fork_and_a_broadcast_cut_a_chain():
    application = Application(
        "fork",
        (SOURCE, Operator("left"), Operator("right"), Operator("after")),
        (Stream("source", "left"), Stream("source", "right"), Stream("left", "after", Grouping.BROADCAST)),
    )
    deployment = Deployment.single(dict.fromkeys(("source", "left", "right", "after"), "a"))
    assert [f.operators for f in fragments(application, deployment)] == [
        ("source",), ("left",), ("right",), ("after",),
    ]  # fmt: skip


def test_a_sink_that_writes_outside_is_a_query_by_itself_and_results_are_not():
    """Its batches are numbered as long as the application lives; a chain's numbers change with whoever is in it."""
    for code, chains in (("shop.sinks:table", [("source",), ("print",)]), (RESULTS_SINK, [("source", "print")])):
        sink = Operator("print", Kind.SINK, code=code)
        application = Application("ends", (SOURCE, sink), (Stream("source", "print"),))
        found = fragments(application, Deployment.single({"source": "a", "print": "a"}))
        assert [fragment.operators for fragment in found] == chains


def test_deployments_are_values():
    one = Deployment.of({"b": {"v": 1, "u": 2}, "a": {"u": 1}})
    assert repr(one) == "a={u:1} b={u:2, v:1}"
    assert one == Deployment.of({"a": Replicas.on("u"), "b": Replicas.on("u", "v", "u")})
    assert len({one, Deployment.of({"a": {"u": 1}, "b": {"u": 2, "v": 1}})}) == 1
    assert min([Replicas.on("v"), Replicas.on("u", "u"), Replicas.on("u")]) == Replicas.on("u")
    assert one.nodes() == ("u", "v")


@pytest.mark.parametrize("counts", [{}, {"u": 0}, {"u": -1}])
def test_an_operator_runs_somewhere(counts):
    with pytest.raises(ValueError, match="at least one"):
        Replicas.of(counts)
