"""Who has to have read the same before it is replaced."""

import json

import pytest
from experiments.subjects import subject
from experiments.walks import SETTINGS, three_nodes

from rheostat.control.history.journal import MemoryJournal
from rheostat.model.graph.deployment import Deployment
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.physical_plan import physical_plan
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.reconfigure.change_executor import ChangeExecutor, PlanDifference, bring_up


class Crew:
    """Remembers who was brought to the same place."""

    def __init__(self):
        self.aligned = []

    def align(self, instances):
        self.aligned.append({instance.head for instance in instances})

    def __getattr__(self, _):
        return lambda *_: None


def test_what_is_started_is_held_until_all_are_up_but_nobody_waits_for_it_to_rest():
    """Else every query would begin with an empty batch, see `channels.data_source`."""
    done = []

    class Recording(Crew):
        def hold(self, *_, starting=False):
            done.append(("hold", starting))

        def start(self, *_):
            done.append("start")

        def up(self, *_):
            done.append("up")

    bring_up(Recording(), [])
    assert done == [("hold", True), "start", "up"]


def plan_of(application, **placed):
    at_n1 = {operator.name: {"n1": 1} for operator in application.operators}
    return physical_plan(application, Deployment.of({**at_n1, **placed}), SETTINGS.key_groups)


@pytest.mark.parametrize(("kind", "stateless_too"), [("window", True), ("count", False)])
def test_stateless_instances_are_aligned_where_they_pass_event_time_on(kind, stateless_too, tmp_path):
    application = subject(kind, 1, 10.0, 1.0).application
    schema = json.dumps({"type": "struct", "fields": []})
    timed = "ts" if stateless_too else ""
    columns = {operator.name: Columns(schema, timed) for operator in application.operators}
    blueprint = Blueprint(application, three_nodes(), RunPaths(tmp_path), columns, SETTINGS)
    spread = {"spread-source": {"n2": 1, "n3": 1}, "op": {"n2": 1, "n3": 1}, "out": {"n1": 1}}
    old, crew = plan_of(application, **spread), Crew()
    new = plan_of(application, **{**spread, "spread-source": {"n2": 2}, "op": {"n3": 2}})
    changing = ChangeExecutor(blueprint, crew, MemoryJournal(), 1)
    changing._hold(PlanDifference(old.instances, new.instances), new)
    heads = set().union(*crew.aligned)
    assert "op" in heads, "its state is merged"
    assert ("spread-source" in heads) is stateless_too
