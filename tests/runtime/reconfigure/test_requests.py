"""Bad requests are refused with the reason; a user's mistake is told by its line; neither disturbs the rest."""

import time

import pytest
from experiments.subjects import subject
from experiments.walks import SETTINGS, finish, three_nodes
from tests.runtime.nodes import broken_operators
from tests.runtime.reconfigure import failing_helpers, failing_operators

from rheostat.control.loop.ports import Done, Refused
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.ends.rate import rate
from rheostat.runtime.reconfigure.embedded_nodes import embedded

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def placed(**operators):
    return Deployment.of(
        {"source": {"n1": 1}, "spread-source": {"n1": 1}, "op": {"n1": 1}, "out": {"n1": 1}} | operators
    )


REFUSED = {
    "no node 'n9'; known are: n1, n2": {"op": {"n9": 1}},
    "has 5 replicas; it takes 1 to 4": {"op": {"n1": 5}},
    "has 2 replicas": {"source": {"n1": 1, "n2": 1}},
    "node 'n2' has 3 slots, 4 are needed": {"op": {"n2": 4}},
}
"""What is told, and the change that is not there to be done."""


def test_what_cannot_be_done_is_refused_and_nothing_is_touched(nodes_session, tmp_path):
    one = subject("count", 3, 60.0, 4.0)
    small = Infrastructure("small", (Node("n1", 8), Node("n2", 3)))
    with embedded(one.application, small, tmp_path, nodes_session, SETTINGS) as runtime:
        runtime.launch(placed())
        before = runtime.plan
        for reason, wanted in REFUSED.items():
            effect = runtime.deploy(placed(**wanted))
            assert isinstance(effect, Refused)
            assert any(reason in text for text in effect.reasons)
            assert runtime.plan == before
        finish(runtime, one.total)
        assert one.differences(runtime.results(one.sink).to_pylist()) == (0, 0)


def test_an_application_goes_on_after_it_was_stopped(nodes_session, tmp_path):
    one = subject("window", 4, 60.0, 8.0)
    with embedded(one.application, three_nodes(), tmp_path, nodes_session, SETTINGS) as runtime:
        runtime.launch(placed())
        assert isinstance(runtime.deploy(placed(op=Replicas.on("n2", "n3"))), Done)
    with embedded(one.application, three_nodes(), tmp_path, nodes_session, SETTINGS) as runtime:
        runtime.launch(placed())
        assert runtime.deployment()["op"] == Replicas.on("n2", "n3")
        finish(runtime, one.total)
        assert one.differences(runtime.results(one.sink).to_pylist()) == (0, 0)


def test_an_operator_that_raises_is_told_by_its_line_and_can_be_mended(nodes_session, tmp_path):
    application = broken_operators.application()
    flag = tmp_path / "mended"
    broken_operators.use(flag)
    where = {"source": {"n1": 1}, "half": {"n2": 1}, "count": {"n3": 1}, "out": {"n3": 1}, "copy": {"n1": 1}}
    where["copies"] = {"n1": 1}
    with embedded(application, three_nodes(), tmp_path / "app", nodes_session, SETTINGS) as runtime:
        runtime.launch(Deployment.of(where))
        deadline = time.monotonic() + 120
        while runtime.heal()["half@n2"].state != "failed":
            assert time.monotonic() < deadline
            time.sleep(0.2)
        status = runtime.heal()["half@n2"]
        assert status.by_user
        assert status.error.startswith("operator half on node n2: ")
        assert f"ValueError: not today at {broken_operators.__file__}:" in status.error
        others = [one.state for name, one in runtime.statuses().items() if name != "half@n2"]
        assert set(others) == {"running"}
    flag.touch()
    with embedded(application, three_nodes(), tmp_path / "app", nodes_session, SETTINGS) as runtime:
        runtime.launch(Deployment.of(where))
        finish(runtime, broken_operators.TOTAL)
        last = {row["k"]: row["c"] for row in runtime.results("out").to_pylist()}
        copies = sorted(row["n"] for row in runtime.results("copies").to_pylist())
    assert sum(last.values()) == broken_operators.TOTAL
    assert copies == list(range(broken_operators.TOTAL))


def test_however_an_operator_fails_it_is_named_and_left_alone(nodes_session, tmp_path):
    """In a helper's module, by an answer of other columns, in an expression, by its data, by its signature."""
    application, here = failing_operators.application(), failing_operators.__file__
    everywhere = Deployment.of({operator.name: {"n1": 1} for operator in application.operators})
    with embedded(application, three_nodes(), tmp_path / "app", nodes_session, SETTINGS) as runtime:
        runtime.launch(everywhere)
        deadline = time.monotonic() + 120
        queries = {function.__name__: f"{function.__name__}@n1" for function in failing_operators.OPERATORS}
        while any(runtime.heal()[query].state != "failed" for query in queries.values()):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        known = {name: runtime.heal()[query] for name, query in queries.items()}
    assert all(status.by_user for status in known.values())
    assert all(status.error.startswith(f"operator {name} on node n1: ") for name, status in known.items())
    assert known["elsewhere"].error.endswith(f"RuntimeError: too many at {failing_helpers.__file__}:11")
    assert "RESULT_COLUMN_NAMES_MISMATCH" in known["columns"].error
    assert "[DIVIDE_BY_ZERO]" in known["division"].error
    assert f" at {here}:{failing_operators.division.__code__.co_firstlineno + 2}" in known["division"].error
    assert 'of the type "STRING" cannot be cast to "INT"' in known["text"].error
    assert "TypeError: Deaf.handleInputRows()" in known["deaf"].error


def test_a_session_may_have_several_streams_of_one_kind(nodes_session):
    streams = [
        rate(nodes_session, rows="experiments.kinds:row", schema="k string, n bigint", total=total) for total in (3, 4)
    ]
    assert all(stream.isStreaming for stream in streams)
