"""Instances that must have read the same rows before they are replaced."""

import json

import pytest
from experiments.subjects import subject
from experiments.walks import SETTINGS, three_nodes

from rheostat.control.history.journal import MemoryJournal
from rheostat.model.graph.deployment import Deployment
from rheostat.runtime.nodes.memory_node import MemoryNode
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.physical_plan import physical_plan
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.reconfigure.barriers import Barriers
from rheostat.runtime.reconfigure.change_executor import ChangeExecutor, PlanDifference
from rheostat.runtime.reconfigure.instance_ops import InstanceOperations
from rheostat.runtime.reconfigure.run_nodes import RunNodes


class Recording(Barriers):
    """Remembers which instances were brought to the same place."""

    def __init__(self, operations):
        super().__init__(operations)
        self.aligned = []

    def align(self, instances):
        self.aligned.append({instance.head for instance in instances})


def operations_on(blueprint):
    """Nothing was started; stopping is free."""
    blueprint.create_channels()
    nodes = {node.name: MemoryNode(node.name) for node in blueprint.infrastructure.nodes}
    return InstanceOperations(RunNodes(blueprint, nodes)), nodes


def plan_of(application, **placed):
    at_n1 = {operator.name: {"n1": 1} for operator in application.operators}
    return physical_plan(application, Deployment.of({**at_n1, **placed}), SETTINGS.key_groups)


def blueprint_of(application, folder, event_time=""):
    schema = json.dumps({"type": "struct", "fields": []})
    columns = {operator.name: Columns(schema, event_time) for operator in application.operators}
    return Blueprint(application, three_nodes(), RunPaths(folder), columns, SETTINGS)


def test_what_is_started_is_held_until_all_are_up_but_need_not_come_to_rest(tmp_path):
    """Else every query would begin with an empty batch, see `channels.data_source`."""
    application = subject("count", 1, 10.0, 1.0).application
    blueprint = blueprint_of(application, tmp_path)
    operations, nodes = operations_on(blueprint)
    instances = plan_of(application).instances
    Barriers(operations).bring_up(instances)
    assert nodes["n1"].running == {one.name for one in instances}
    for instance in instances:
        order = nodes["n1"].disk.orders[instance.name]
        assert (order.hold, order.starting) == (True, True)


@pytest.mark.parametrize(("kind", "stateless_too"), [("window", True), ("count", False)])
def test_stateless_instances_are_aligned_where_they_pass_event_time_on(kind, stateless_too, tmp_path):
    application = subject(kind, 1, 10.0, 1.0).application
    blueprint = blueprint_of(application, tmp_path, "ts" if stateless_too else "")
    spread = {"spread-source": {"n2": 1, "n3": 1}, "op": {"n2": 1, "n3": 1}, "out": {"n1": 1}}
    old = plan_of(application, **spread)
    operations, _ = operations_on(blueprint)
    barriers = Recording(operations)
    operations.start(old.instances)
    new = plan_of(application, **{**spread, "spread-source": {"n2": 2}, "op": {"n3": 2}})
    changing = ChangeExecutor(operations, barriers, MemoryJournal(), 1)
    changing._hold(PlanDifference(old.instances, new.instances), new)
    heads = set().union(*barriers.aligned)
    assert "op" in heads, "its state is merged"
    assert ("spread-source" in heads) is stateless_too
