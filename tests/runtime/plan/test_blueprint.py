"""From the plan to what an agent starts: how rows find their way."""

import json
from pathlib import Path

import pytest

from rheostat.model.graph.application import Application, Grouping, Kind, Operator, OutputMode, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.plan.blueprint import Blueprint, RuntimeSettings
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.physical_plan import physical_plan
from rheostat.runtime.plan.run_paths import RunPaths


def columns(*names):
    fields = [{"name": name, "type": "string", "nullable": True, "metadata": {}} for name in names]
    return Columns(json.dumps({"type": "struct", "fields": fields}))


def blueprint(mode, formatted=("word", "text")):
    application = Application(
        "words",
        (
            Operator("source", Kind.SOURCE),
            Operator("count", Kind.STATEFUL, key=("word",), output_mode=mode, max_replicas=4),
            Operator("format", max_replicas=4),
            Operator("out", Kind.SINK, max_replicas=4),
        ),
        (Stream("source", "count", Grouping.KEY), Stream("count", "format"), Stream("format", "out")),
    )
    known = {"source": columns("word"), "count": columns("word", "c"), "format": columns(*formatted)}
    return Blueprint(application, Infrastructure("one", (Node("a", 16), Node("b", 16))), RunPaths(Path("x")), known)


def routes(made):
    apart = Deployment.of({"source": {"a": 1}, "count": {"b": 1}, "format": {"a": 2}, "out": {"b": 2}})
    plan = physical_plan(made.application, apart, RuntimeSettings().key_groups)
    specs = {instance.head: made.spec(instance, 1, continues=False) for instance in plan.instances}
    return {name: [(part.grouping, part.key) for part in spec.outputs] for name, spec in specs.items()}


def test_a_keyed_stream_is_routed_by_the_key_of_its_target():
    assert routes(blueprint(OutputMode.APPEND))["source"] == [("key", ("word",))]


def test_updates_stay_in_order_because_they_are_routed_by_their_key_also_through_stateless_operators():
    found = routes(blueprint(OutputMode.UPDATE))
    assert found["count"] == [("key", ("word",))]
    assert found["format"] == [("key", ("word",))]


@pytest.mark.parametrize(
    ("mode", "formatted"),
    [
        pytest.param(OutputMode.APPEND, ("word", "text"), id="rows that replace nothing go anywhere"),
        pytest.param(OutputMode.UPDATE, ("text",), id="updates that have lost their key cannot be told apart"),
    ],
)
def test_everything_else_goes_anywhere(mode, formatted):
    assert routes(blueprint(mode, formatted))["format"] == [("shuffle", ())]
