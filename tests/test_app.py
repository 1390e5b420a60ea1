"""Writing an application in Python gives the same value as a document; bad code is told by its place."""

import pytest

from rheostat.app import App, operator
from rheostat.errors import InvalidModel, OperatorFailed
from rheostat.model.graph.application import RESULTS_SINK, Grouping, Kind, OutputMode
from rheostat.runtime.query.user_code import call_operator, load_function


def numbers(spark):
    return spark


@operator(max_replicas=3)
def halve(value):
    return value / 2


@operator(key=["user", "word"], output="update", max_replicas=4, state_bytes=10)
def count(words, ticks):
    return words, ticks


def test_operators_and_streams_are_declared_as_they_read():
    app = App("words")
    app.source("numbers", numbers, rate_tps=5, parameters={"b": 1, "a": "x"})
    app.operator(halve, reads="numbers", selectivity=0.5)
    app.operator(count, reads=("halve", "numbers"), grouping=("key", "broadcast"))
    app.sink("out", reads="count")
    application = app.build()
    by_name = application.by_name
    assert by_name["numbers"].code == f"{__name__}:numbers"
    assert by_name["numbers"].parameters == (("a", "x"), ("b", 1))
    assert (by_name["halve"].kind, by_name["halve"].max_replicas) == (Kind.STATELESS, 3)
    assert by_name["count"].key == ("user", "word")
    assert (by_name["count"].output_mode, by_name["count"].state_bytes) == (OutputMode.UPDATE, 10)
    assert by_name["out"].code == RESULTS_SINK
    assert [s.grouping for s in application.inputs["count"]] == [Grouping.KEY, Grouping.BROADCAST]
    assert application.inputs["halve"][0].selectivity == 0.5


def test_a_wrong_graph_is_told_when_it_is_built():
    with pytest.raises(InvalidModel, match="no operator 'nubmers'; did you mean 'numbers'"):
        App("x").source("numbers", numbers).operator(halve, reads="nubmers").build()


def test_a_function_that_no_other_process_could_find_is_refused():
    with pytest.raises(ValueError, match="top level of an importable module"):
        App("x").source("numbers", lambda spark: spark)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("os.system", "is not an import path"),
        ("os:system; rm", "is not an import path"),
        ("no_such_module_here:f", "no module named"),
        ("os:no_such_function", "has no function"),
    ],
)
def test_code_that_cannot_be_found_is_told(path, reason):
    with pytest.raises(ValueError, match=reason):
        load_function(path)


def test_what_a_function_raises_is_told_with_operator_node_and_line():
    with pytest.raises(OperatorFailed) as failure:
        call_operator("halve", "n1", halve, "text")
    assert str(failure.value).startswith("operator halve on node n1: TypeError")
    assert f"{__file__}:" in str(failure.value)
