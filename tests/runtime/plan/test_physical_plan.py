"""The physical plan: who owns what, and what need not change does not."""

from hypothesis import given
from hypothesis import strategies as st

from rheostat.model.graph.application import Application, Grouping, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.runtime.plan.physical_plan import PhysicalPlan, physical_plan, state_groups
from rheostat.runtime.reconfigure.change_executor import PlanDifference

GROUPS = 12
APPLICATION = Application(
    "chain",
    (
        Operator("source", Kind.SOURCE),
        Operator("parse", max_replicas=4),
        Operator("count", Kind.STATEFUL, key=("word",), max_replicas=4),
        Operator("out", Kind.SINK, max_replicas=4),
    ),
    (Stream("source", "parse"), Stream("parse", "count", Grouping.KEY), Stream("count", "out")),
)
MULTISETS = st.dictionaries(st.sampled_from("abc"), st.integers(1, 2), min_size=1, max_size=2)


@st.composite
def deployments(draw):
    placed = {name: draw(MULTISETS) for name in ("parse", "count", "out")}
    return Deployment.of({"source": {draw(st.sampled_from("abc")): 1}, **placed})


def plan(deployment, previous=None):
    return physical_plan(APPLICATION, deployment, GROUPS, previous)


@given(deployments(), deployments())
def test_every_group_has_one_owner_in_every_fragment(one, other):
    for planned in (plan(one), plan(other, plan(one))):
        for head in {instance.head for instance in planned.instances} - {"source"}:
            owned = [group for instance in planned.with_head(head) for group in instance.groups]
            assert sorted(owned) == list(range(GROUPS))
        assert len({instance.name for instance in planned.instances}) == len(planned.instances)


@given(deployments(), deployments())
def test_no_two_instances_ever_share_a_checkpoint(one, other):
    first = plan(one)
    second = plan(other, first)
    third = plan(one, second)
    numbers = [i.number for p in (first, second, third) for i in p.instances]
    by_number = {}
    for planned in (first, second, third):
        for instance in planned.instances:
            assert by_number.setdefault(instance.number, instance).does_the_same_as(instance)
    assert max(numbers) <= third.counted


@given(deployments())
def test_the_same_deployment_changes_nothing(deployment):
    first = plan(deployment)
    again = plan(deployment, first)
    assert again == first
    assert PlanDifference.between(first, again) == PlanDifference((), ())


@given(deployments(), deployments())
def test_a_plan_survives_the_journal(one, other):
    planned = plan(other, plan(one))
    assert PhysicalPlan.from_dict(planned.to_dict()) == planned


def test_what_is_not_touched_by_a_change_is_left_alone():
    before = plan(Deployment.of({"source": {"a": 1}, "parse": {"a": 1}, "count": {"b": 1}, "out": {"c": 1}}))
    after = plan(Deployment.of({"source": {"a": 1}, "parse": {"a": 1}, "count": {"b": 2}, "out": {"c": 1}}), before)
    difference = PlanDifference.between(before, after)
    assert [i.name for i in difference.retired] == ["count@b"]
    assert [(i.name, i.replicas) for i in difference.created] == [("count@b", 2)]


def test_a_source_with_state_in_its_chain_has_the_state_of_all_groups():
    fused = plan(Deployment.single(dict.fromkeys(("source", "parse", "count", "out"), "a")))
    (instance,) = fused.instances
    assert instance.operators == ("source", "parse", "count", "out")
    assert state_groups(instance, GROUPS) == frozenset(range(GROUPS))
    cut = plan(
        Deployment.of({"source": {"a": 1}, "parse": {"a": 1}, "count": {"a": 1, "b": 1}, "out": {"a": 1}}), fused
    )
    owned = {i.node: len(i.groups) for i in cut.with_head("count")}
    assert owned == {"a": 6, "b": 6}
