"""Whole runs: managers of `control` over the simulated world, what they cost, and many of them side by side."""

from math import inf

import pytest
from tests.simulation.scenes import CHAIN, chain

from rheostat.control.history.journal import MemoryJournal, to_line
from rheostat.control.history.replay_decisions import Replay
from rheostat.control.loop.loop_schedule import run as run_loops
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import World as Parts
from rheostat.control.setup.factory import build
from rheostat.model.downtime.full_restart import FullRestart
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.policies.operators.period_cost import Weights
from rheostat.policies.policy_registry import POLICIES
from rheostat.simulation.queues.noise import Noise
from rheostat.simulation.queues.servers import Behaviour, Burst
from rheostat.simulation.studies.contest import Contest, compare, limit, ratios
from rheostat.simulation.studies.foresight import informed_policies, period_rates, slowed_by_a_change
from rheostat.simulation.studies.latency_curves import latency_curve, shared_bounds
from rheostat.simulation.studies.run_cost import total_cost
from rheostat.simulation.studies.simulated_run import simulate
from rheostat.simulation.world.node_failures import Failure
from rheostat.simulation.world.simulated_world import SimulatedWorld

HILL = "ramp 20 350 for 900; ramp 350 20 for 900"
BOUNDS = {"work": 40.0, "sink": 5.0}


def settings(policy, **others):
    return ControlSettings("edf", policy, latency_bounds_ms=BOUNDS, **others)


def test_managers_follow_the_load_and_every_change_has_its_reason():
    run = simulate(chain(HILL, sample_seconds=10), settings("threshold"), 1800, objective_ms=100)
    replicas = run.recording.replicas["work"]
    assert max(replicas) >= 5
    assert replicas[-1] == 1
    changes = [note for note in run.recording.notes if note.kind == "done"]
    assert changes
    assert all("busy" in note.why for note in changes)
    assert run.granted == len(changes)


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_the_same_run_has_the_same_journal_byte_for_byte(policy):
    def journal():
        run = simulate(chain(HILL, noise=Noise(0.1, measurement=0.1)), settings(policy), 600, seed=4)
        return [to_line(entry) for _, entry in run.journal.read()]

    assert journal() == journal()


@pytest.mark.parametrize("policy", sorted(POLICIES))
@pytest.mark.parametrize("granting", ["all", "token-bucket"])
def test_a_journal_of_a_noisy_run_is_decided_the_same_way_again(policy, granting):
    scenario, chosen = chain(HILL, noise=Noise(0.1, measurement=0.1)), settings(policy, granting=granting, seed=4)
    world, journal = SimulatedWorld(scenario, 4), MemoryJournal()
    parts = Parts(scenario.application, world, world, world, journal)
    control = build(chosen, parts, policy_for=informed_policies(scenario, chosen, 900, 4))
    run_loops(control.loops, world, 900)
    replay = Replay.of(control)
    assert list(replay.differences(journal)) == []
    assert replay.decided >= 30


def test_a_change_slows_down_who_stands_still_for_too_long():
    gently, all_at_once = (
        slowed_by_a_change(chain(downtime=downtime), settings("predictive"), CHAIN.by_name["work"])
        for downtime in (PauseAndResume(2.0), FullRestart(2.0))
    )
    # 2 s and more of 30 make tuples wait for over 66 ms; the sink's bound is 5 ms, and it waits only for a restart.
    assert (gently, all_at_once) == (1, 2)
    assert slowed_by_a_change(chain(downtime=PauseAndResume(0.0)), settings("oracle"), CHAIN.by_name["work"]) == 0


def test_nobody_pays_less_than_who_knows_the_future_and_changes_in_no_time():
    contest = Contest(chain(HILL, sample_seconds=30), 1800, 100.0, BOUNDS)
    names = ("hold", "threshold", "true-rate", "predictive", "oracle")
    weighs = {"predictive", "oracle"}
    entrants = {name: settings(name, options={"weights": Weights()} if name in weighs else {}) for name in names}
    heard = []
    found = compare(contest, entrants, processes=1, told=heard.append)
    assert heard == list(found) == list(names)
    by_oracle = ratios(found)
    assert by_oracle["oracle"] == 1
    assert all(each.cost >= limit(contest) for each in found.values())
    assert found["oracle"].cost < 1.2 * limit(contest)
    assert by_oracle["hold"] > 1.3


def test_the_rates_the_oracle_knows_are_those_that_come():
    scenario = chain(HILL, {"work": {"a": 4}}, noise=Noise(0.2), sample_seconds=30)
    world = SimulatedWorld(scenario, 7)
    world.wait_until(1800)
    known = period_rates(scenario, 7, 30.0, 60)
    assert known["source"] == pytest.approx(world.recorder.recording("t").column("rate_tps"))
    assert known["sink"] == pytest.approx(2 * known["work"])


def test_a_lost_node_is_survived():
    scenario = chain("80", {"work": {"a": 1, "b": 1}}, failures=(Failure(300, "b", 120),))
    run = simulate(scenario, settings("threshold"), 900)
    assert run.recording.column("backlog")[-1] == pytest.approx(0, abs=1)
    assert run.recording.column("nodes")[-1] == 3


def test_the_cost_of_a_run_is_what_its_periods_cost():
    scenario = chain("120 for 60; 50", {"work": {"a": 2}}, sample_seconds=30)
    world = SimulatedWorld(scenario)
    world.wait_until(90)
    recording = world.recorder.recording("t")
    weights = Weights(0.3, 0.6, 0.1)
    # work: 2 of 8 replicas; sink: 1 of 2. At 120 tuples/s work takes 25 ms, at 50 13 ms.
    shares = 0.1 * (2 / 8 + 1 / 2) * 3
    assert total_cost(recording, CHAIN, {"work": 20.0, "sink": inf}, weights) == pytest.approx(shares + 0.6 * 2)
    assert total_cost(recording, CHAIN, {}, weights) == pytest.approx(shares)


def test_a_latency_curve_is_what_the_world_would_show():
    operator = CHAIN.by_name["work"]
    calm, bursty = latency_curve(operator), latency_curve(operator, Behaviour(burst=Burst(2.0)))
    assert calm.latency_ms(50) == pytest.approx(20, rel=0.01)
    world = SimulatedWorld(chain("50", behaviours={"work": Behaviour(burst=Burst(2.0))}))
    world.wait_until(10)
    assert world.recorder.recording("t").latencies_ms["work"][-1] == pytest.approx(bursty.latency_ms(50), rel=0.01)


def test_every_operator_gets_its_share_of_the_objective_along_the_longest_path():
    bounds = shared_bounds(CHAIN, {}, 100.0)
    assert sum(bounds.values()) == pytest.approx(100)
    assert bounds["work"] > 10 * bounds["source"]
