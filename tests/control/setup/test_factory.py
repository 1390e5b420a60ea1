"""Control put together from settings: every kind runs, wrong settings are told at once, journals are repeated."""

import json

import pytest
from tests.control.still_world import APPLICATION, StillWorld, nodes

from rheostat.control.history.explanation import explained
from rheostat.control.history.journal import to_line
from rheostat.control.history.replay_decisions import Replay
from rheostat.control.loop.loop_schedule import run
from rheostat.control.managers.application_manager import ApplicationManager
from rheostat.control.managers.elasticity_manager import ElasticityManager
from rheostat.control.setup.control_settings import KINDS, ControlSettings
from rheostat.control.setup.factory import Planning, build, operator_policy
from rheostat.errors import InvalidModel
from rheostat.model.quality.objective import Bounds, EdrpObjective
from rheostat.planning.solvers.local_search import LocalSearch
from rheostat.policies.operators.oracle import Oracle
from rheostat.policies.policy_registry import POLICIES

PLANNING = Planning(LocalSearch(rounds=200, restarts=1), EdrpObjective(0.3, 0.3, 0.4, Bounds(1e6, 100, 60)))


def controlled(settings, world=None, until=600.0, **parts):
    """A run of ten minutes in which the work comes and goes."""
    world = world or StillWorld(at=nodes(6), response_ms=300.0)

    class Day:
        name, period_seconds, offset_seconds = "day", 30.0, 0.0

        def step(self, now_seconds):
            peak = 150.0 <= now_seconds < 400.0
            world.work.update({"split": 1.5 if peak else 0.2, "count": 2.4 if peak else 0.2})
            world.rate_tps = 150.0 if peak else 20.0

    planning = PLANNING if settings.kind.startswith("s-") else None
    control = build(settings, world.world(), planning, **parts)
    run((Day(), *control.loops), world.clock, until)
    return world, control


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_runs_and_keeps_every_bound(kind):
    world, _ = controlled(ControlSettings(kind))
    assert world.deployed.mistakes(APPLICATION, world.at.index) == []


@pytest.mark.parametrize(
    ("kind", "policy"),
    [
        (kind, policy)
        for kind in ("edf", "e2df", "elastic-storm")
        for policy in sorted(POLICIES.keys() - {"hold", "oracle", "q-learning", "model-based"})
    ],
)
def test_every_policy_follows_the_work_under_every_manager(kind, policy):
    options = {"scale_down_delay_seconds": 60.0, "restart_seconds": 1.0} if policy == "flink" else {}
    options |= {"cooldown_invocations": 1} if policy == "doubling" else {}
    options |= {"latency_bound_ms": 20.0} if policy == "predictive" else {}
    world, _ = controlled(ControlSettings(kind, policy, options, settle_seconds=10.0), until=390.0)
    assert len(world.deployed["count"]) > 1


def test_nothing_is_nothing():
    world, control = controlled(ControlSettings("none"))
    assert control.loops == ()
    assert list(world.journal.read()) == []


def test_the_papers_periods_are_the_defaults():
    world = StillWorld()
    edf, storm = build(ControlSettings("edf"), world.world()), build(ControlSettings("elastic-storm"), world.world())
    assert {loop.period_seconds for loop in edf.loops} == {30.0}
    assert isinstance(edf.loops[-1], ApplicationManager)
    assert [(type(loop), loop.period_seconds) for loop in storm.loops] == [(ElasticityManager, 10.0)]
    e2df = build(ControlSettings("e2df"), world.world())
    assert [loop.period_seconds for loop in e2df.loops] == [60.0, 60.0, 30.0, 30.0, 30.0]
    assert build(ControlSettings("s-edrp"), world.world(), PLANNING).loops[0].period_seconds == 60.0


def test_s_edrp_plans_in_every_period_and_s_odp_places_what_there_is():
    edrp, odp = (build(ControlSettings(kind), StillWorld().world(), PLANNING).planned for kind in ("s-edrp", "s-odp"))
    assert (edrp.every_period, edrp.keeps_degrees) == (True, False)
    assert (odp.every_period, odp.keeps_degrees) == (False, True)


def test_a_planner_that_is_not_asked_for_is_not_used():
    assert build(ControlSettings("edf"), StillWorld().world(), PLANNING).planned is None


def test_one_replica_is_a_quota_and_one_neighbour_a_neighbourhood():
    build(ControlSettings(quota_replicas=1, neighbours=1), StillWorld().world())


def test_an_operator_that_cannot_be_scaled_has_no_manager():
    control = build(ControlSettings(), StillWorld().world())
    assert [manager.operator for manager in control.operators] == ["split", "count"]


def test_operators_have_their_own_latency_bounds_and_learners_the_common_seed():
    settings = ControlSettings(policy="q-learning", latency_bounds_ms={"count": 7.0}, seed=5)
    count, split = (operator_policy(settings, APPLICATION.by_name[name]) for name in ("count", "split"))
    assert (count.latency_bound_ms, split.latency_bound_ms) == (7.0, 250.0)
    assert count.seed == 5


def test_a_policy_may_be_given_for_every_operator():
    given = lambda operator: Oracle((20.0,) * 30, max_replicas=operator.max_replicas)  # noqa: E731
    control = build(ControlSettings(), StillWorld().world(), policy_for=given)
    assert all(isinstance(manager.policy, Oracle) for manager in control.operators)


def test_guards_go_around_the_policy():
    settings = ControlSettings(bounds=(1, 2), confirmations=2, cool_down_seconds=(60, 60), excluded_periods=((0, 10),))
    control = build(settings, StillWorld().world())
    names = [guard.name for guard in control.operators[0].policy.guards]
    assert names == ["bounds", "confirmation", "cool-down", "excluded-periods"]
    world, _ = controlled(settings)
    assert max(facts["proposal"]["wanted"] for facts in world.entries("proposal")) == 2


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "none"])
def test_a_dry_run_only_recommends_whoever_decides(kind):
    size = 3 if kind == "e2df" else 6
    world = StillWorld(at=nodes(size), response_ms=300.0)
    controlled(ControlSettings(kind, dry_run=True), world, until=300.0)
    assert (world.changes, world.coming, len(world.at.nodes)) == ([], [], size)
    recommended = [facts["refusals"] for facts in world.entries("decision")]
    recommended += [facts["reasons"] for facts in world.entries("effect")]
    assert any(recommended) or (kind == "s-odp" and world.entries("plan"))
    if kind == "e2df":
        refused = [(facts["refused"], facts["reason"]) for facts in world.entries("infrastructure")]
        assert refused[0] == ("start 2 small", "a dry run: this would be done")


def test_a_quota_is_for_the_whole_application():
    world, _ = controlled(ControlSettings(quota_replicas=4, settle_seconds=0.0))
    assert max(facts["seen"]["replicas"] for facts in world.entries("decision")) == 4


def test_during_the_warm_up_nothing_is_proposed():
    world, _ = controlled(ControlSettings(warm_up_seconds=200.0))
    assert min(entry.at_seconds for _, entry in world.journal.read(kind="proposal")) >= 200.0


def test_migrations_are_off_unless_they_are_asked_for():
    busy = lambda: StillWorld(cpu={"n1": 0.95}, at=nodes(6))  # noqa: E731
    quiet, _ = controlled(ControlSettings(policy="hold"), busy())
    assert quiet.changes == []
    moved, _ = controlled(ControlSettings(policy="hold", migrations=True), busy())
    assert "n1" not in moved.deployed.nodes()


def test_infrastructure_follows_the_application():
    world = StillWorld(at=nodes(3, 1.0))
    controlled(ControlSettings("e2df", free_capacity=2), world, until=30.0)
    assert len(world.coming) == 2


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"kind": "efd"}, "kind: there is no kind of control 'efd'; did you mean 'edf'?"),
        ({"policy": "threshhld"}, "policy.name: there is no policy 'threshhld'; did you mean 'threshold'?"),
        ({"options": {"slack": 1.5}}, "policy: need 0 < scale_out < 1 and 0 < slack < 1"),
        ({"policy": "doubling", "options": {"scale_in": 0.4}}, "thresholds would oscillate"),
        ({"granting": "token"}, "there is no policy 'token'"),
        ({"granting": "token-bucket", "granting_options": {"low_ms": 500}}, "granting: need 0 <= low_ms < high_ms"),
        ({"placement": "nearest"}, "placement: there is no way 'nearest'"),
        ({"period_seconds": 0.0}, "period_seconds: 0.0 is not a finite number > 0; write seconds > 0"),
        ({"settle_seconds": -1.0}, "settle_seconds: -1.0 is not a finite number >= 0"),
        (
            {"latency_bounds_ms": {"cuont": 5.0}},
            "latency_bounds_ms.cuont: there is no operator 'cuont'; did you mean 'count'?",
        ),
        ({"latency_bounds_ms": {"count": 0.0}}, "latency_bounds_ms.count: 0.0 is not a number > 0"),
        ({"migration_threshold": 2.0}, "migration_threshold: need 0 < threshold < 1"),
        ({"free_capacity": -1}, "free_capacity: need free >= 0"),
        ({"bounds": (4, 2)}, "guards: need 1 <= least <= most"),
        ({"quota_replicas": 0}, "quota_replicas: 0 is below 1"),
        ({"neighbours": 0}, "neighbours: 0 is below 1"),
        ({"kind": "s-edrp"}, "kind: s-edrp needs a planner and an objective"),
    ],
)
def test_wrong_settings_give_one_clear_line_each(settings, said):
    with pytest.raises(InvalidModel) as caught:
        build(ControlSettings(**settings), StillWorld().world())
    (mistake,) = caught.value.mistakes
    assert said in str(mistake)
    assert "\n" not in str(mistake)


def test_all_wrong_settings_are_told_at_once():
    wrong = ControlSettings(policy="nobody", granting="nothing", period_seconds=-1.0, quota_replicas=0, victims="all")
    with pytest.raises(InvalidModel) as caught:
        build(wrong, StillWorld().world())
    assert len(caught.value.mistakes) == 5
    with pytest.raises(InvalidModel, match="control settings"):
        wrong.check(APPLICATION)


REPEATED = [
    ControlSettings("edf"),
    ControlSettings("edf", "q-learning", {"exploration": 0.3, "rate_levels": 4}, settle_seconds=0.0),
    ControlSettings("edf", "model-based", {"rate_levels": 4}, granting="token-bucket", migrations=True),
    ControlSettings("edf", "predictive", confirmations=2, quota_replicas=5),
    ControlSettings("e2df", free_capacity=3),
    ControlSettings("elastic-storm", options={"cooldown_invocations": 2}),
    ControlSettings("s-edrp", settle_seconds=0.0),
    ControlSettings("edf", "flink", {"scale_down_delay_seconds": 60.0}, cool_down_seconds=(30, 60)),
]


def test_the_rows_below_have_migrations_and_plans_in_them():
    kinds = {entry.kind for s in REPEATED for _, entry in controlled(s, busy_node())[0].journal.read()}
    assert kinds >= {"proposal", "application proposal", "decision", "effect", "region proposal", "plan", "migration"}


def busy_node():
    return StillWorld(at=nodes(6), response_ms=300.0, cpu={"n1": 0.95})


def lines(world):
    return [to_line(entry) for _, entry in world.journal.read()]


@pytest.mark.parametrize("settings", REPEATED, ids=lambda s: f"{s.kind}-{s.policy_name()}")
def test_the_same_seed_gives_the_same_journal_byte_for_byte(settings):
    first, second = controlled(settings, busy_node())[0], controlled(settings, busy_node())[0]
    assert lines(first) == lines(second)
    assert len(lines(first)) > 10


@pytest.mark.parametrize("settings", REPEATED, ids=lambda s: f"{s.kind}-{s.policy_name()}")
def test_replaying_a_journal_decides_the_same_again(settings):
    world, control = controlled(settings, busy_node())
    replay = Replay.of(control)
    assert list(replay.differences(world.journal)) == []
    assert replay.decided >= 10
    decisions = {"proposal", "application proposal", "decision", "region proposal", "migration", "plan"}
    taken = [entry for _, entry in world.journal.read() if entry.kind in decisions]
    # Nodes may have come since a plan was made, and a plan that was held for want of rates was none.
    assert replay.decided == len([entry for entry in taken if "held" not in entry.facts])


def test_another_policy_would_have_decided_otherwise_and_the_replay_says_where():
    world, _ = controlled(ControlSettings("edf", options={"scale_out": 0.7}))
    other = build(ControlSettings("edf", options={"scale_out": 0.3}), StillWorld().world())
    (first, *_) = Replay.of(other).differences(world.journal)
    assert "decided" in str(first)
    assert "would now decide" in str(first)


@pytest.mark.parametrize("settings", REPEATED, ids=lambda s: f"{s.kind}-{s.policy_name()}")
def test_everything_in_a_journal_can_be_told(settings):
    world, _ = controlled(settings)
    told = list(explained(world.journal, holding=True))
    assert len(told) == len(lines(world))
    assert all(line.endswith(".") for line in told)
    assert len(list(explained(world.journal))) < len(told)


def test_a_decision_is_told_as_a_person_would():
    world = StillWorld(work={"count": 0.9}, response_ms=300.0, at=nodes(4))
    settings = ControlSettings("edf", placement="least-used", settle_seconds=10.0)
    controlled_world = build(settings, world.world())
    run(controlled_world.loops, world.clock, 40.0)
    told = "\n".join(explained(world.journal))
    assert "00:00:00  operator manager of count wants 2 instead of 1 replicas (score 0.67): " in told
    assert "a replica is 90% busy, more than 70%." in told
    assert "It asks for {n2:1, n3:1} instead of {n2:1}." in told
    assert "application manager of words: 1 requests, 1 granted. The response time is 300 ms." in told
    assert "00:00:02  Done: scale-out count: {n2:1} -> {n2:1, n3:1}; it stood still for 2.00 s." in told
    assert "count was expected to be 45% busy and is 45% busy; the response time was 300 ms and is 300 ms." in told


def test_what_was_refused_is_told_with_who_and_why():
    world = StillWorld(work={"count": 0.9}, response_ms=150.0)
    run(build(ControlSettings(granting="token-bucket"), world.world()).loops, world.clock, 0.0)
    told = "\n".join(explained(world.journal))
    assert "Refused by token-bucket: scale-out count" in told
    assert "takes an H-token, the bucket is empty; the response time is 150 ms." in told


def test_a_learners_state_is_in_the_journal_as_plain_data():
    settings = ControlSettings(policy="model-based", options={"rate_levels": 2}, memory_every=3, settle_seconds=0.0)
    world, control = controlled(settings)
    manager = control.operators[0]
    saved = [facts for facts in world.entries("memory") if facts["by"] == manager.name][-1]
    assert manager.policy.loaded(json.loads(json.dumps(saved["memory"]))).moves.sum() > 0
