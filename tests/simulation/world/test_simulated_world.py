"""The simulated world keeps the contracts of all worlds, and its own promises."""

import numpy as np
import pytest
from tests.contracts.clock import ClockContract
from tests.contracts.world import ActuatorContract, NodeProviderContract, ProbeContract
from tests.simulation.events import times_in_queue
from tests.simulation.scenes import CHAIN, SITES, Scripted, chain, changed, responses

from rheostat.control.loop.loop_schedule import run
from rheostat.control.loop.ports import Done, Refused, RolledBack
from rheostat.errors import InvalidModel
from rheostat.model.downtime.downtime_model import CurrentDeployment, downtime_seconds
from rheostat.model.downtime.full_restart import FullRestart
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.model.network.links import Link, LinkQuality
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node
from rheostat.model.observation import Subject
from rheostat.model.quality import qos
from rheostat.model.quality.placed import Placed
from rheostat.simulation.queues.noise import Noise
from rheostat.simulation.world.node_failures import Failure, random_failures
from rheostat.simulation.world.simulated_world import SimulatedWorld


class TestClock(ClockContract):
    @pytest.fixture
    def clock(self):
        return SimulatedWorld(chain())


class TestProbe(ProbeContract):
    @pytest.fixture
    def world(self):
        return SimulatedWorld(chain(noise=Noise(0.1, measurement=0.05)))

    @pytest.fixture
    def patience_seconds(self):
        return 12.0


class TestActuator(ActuatorContract):
    @pytest.fixture(params=[PauseAndResume(), FullRestart()])
    def world(self, request):
        return SimulatedWorld(chain(downtime=request.param))

    @pytest.fixture
    def operator(self):
        return "work"


class TestNodeProvider(NodeProviderContract):
    @pytest.fixture
    def world(self):
        return SimulatedWorld(chain())

    @pytest.fixture
    def start_seconds(self):
        return 21.0


def figure(world, subject, name):
    """The last reading of a figure."""
    found = [s.figures[name] for s in world.samples() if s.subject == subject and name in s.figures]
    return found[-1] if found else None


def test_in_a_calm_world_the_response_time_is_that_of_the_formulas():
    world = SimulatedWorld(chain("50", {"work": {"b": 1}}))
    world.wait_until(60)
    placed = Placed(CHAIN.with_source_rate(50), SITES, world.deployment())
    assert responses(world)[-1] == pytest.approx(qos.response_time_ms(placed))


def test_utilisation_rates_and_true_rates_are_those_of_the_queues():
    world = SimulatedWorld(chain("150", {"work": {"a": 1, "b": 2}}))
    world.wait_until(10)
    figures = {s.subject: s.figures for s in world.samples()}
    work = figures[Subject.operator("work")]
    assert work["input_rate"] == pytest.approx(150)
    assert work["output_rate"] == pytest.approx(300)
    assert work["utilization"] == pytest.approx(0.5)
    assert work["true_rate"] == pytest.approx(100)
    assert work["replicas"] == 3
    assert work["latency_ms"] == pytest.approx(20)
    assert figures[Subject.instance("work", "b")]["input_rate"] == pytest.approx(100)
    assert figures[Subject.node("b")] == pytest.approx(
        {"cpu": 2 * 0.5 / 8, "slots_used": 2, "availability": 1, "heartbeat_age": 0}
    )


@pytest.mark.parametrize("model", [PauseAndResume(), FullRestart(6.0)])
def test_a_change_costs_what_the_downtime_model_says_and_tuples_wait_for_it(model):
    world = SimulatedWorld(chain("50", downtime=model))
    world.wait_until(20)
    change = changed(world, "work", {"a": 1, "b": 1})
    situation = CurrentDeployment(CHAIN, SITES, world.deployment())
    expected = downtime_seconds(model, situation, change.apply(world.deployment()))
    assert world.apply(change) == Done(pytest.approx(expected))
    assert world.now_seconds() == pytest.approx(20 + expected)
    assert world.downtime_seconds == pytest.approx(expected)
    backlog = world.recorder.recording("t").column("backlog")[-1]
    assert backlog == pytest.approx(50 * expected, rel=0.05)


def test_only_what_is_changed_pauses_unless_everything_is_restarted():
    for model, waiting in ((PauseAndResume(), "work"), (FullRestart(), "source")):
        world = SimulatedWorld(chain("50", downtime=model))
        world.wait_until(20)
        world.apply(changed(world, "work", {"a": 2}))
        last = {s.subject: s.figures["backlog"] for s in world.samples() if "backlog" in s.figures}
        assert {name for name in ("source", "work", "sink") if last[Subject.operator(name)] > 1} == {waiting}


def test_after_a_pause_the_response_time_is_that_of_single_tuples_who_waited():
    world = SimulatedWorld(chain("80", downtime=FullRestart(10.0), sample_seconds=60.0))
    world.wait_until(20)
    paused = world.apply(changed(world, "work", {"a": 2})).downtime_seconds
    world.wait_until(60)
    came = np.arange(0, 60 * 80) / 80
    # A tuple that comes during the pause is as if it came at its end; the source then serves them one by one.
    ready = np.where((came >= 20) & (came < 20 + paused), 20 + paused, came)
    after_source = ready + times_in_queue(ready, np.full(len(came), 1 / 1000))
    after_work = after_source + times_in_queue(after_source, np.full(len(came), 1 / 200))
    leaving = (after_work > 20 + paused) & (after_work <= 60)
    expected = 1000 * (after_work - came)[leaving]
    assert responses(world)[-1] == pytest.approx(expected.mean(), rel=0.03)
    assert responses(world, "response_p95_ms")[-1] == pytest.approx(np.quantile(expected, 0.95), rel=0.25)
    assert world.recorder.recording("t").column("backlog")[-1] == 0


def test_long_after_a_pause_everything_is_as_before():
    world = SimulatedWorld(chain("80", {"work": {"a": 2}}, downtime=FullRestart(10.0)))
    world.wait_until(20)
    calm = responses(world)[-1]
    world.apply(changed(world, "work", {"a": 3}))
    world.apply(changed(world, "work", {"a": 2}))
    world.wait_until(120)
    assert responses(world)[-1] == pytest.approx(calm)


def test_while_nothing_leaves_there_is_no_response_time_to_measure():
    world = SimulatedWorld(chain("80", downtime=FullRestart(30.0)))
    world.wait_until(20)
    world.apply(changed(world, "work", {"a": 2}))
    paused = [sample for sample in world.samples() if 21 <= sample.at_seconds <= 49]
    assert paused
    assert not any("response_mean_ms" in sample.figures for sample in paused)


def test_an_overload_piles_up_and_is_caught_up_with_afterwards():
    world = SimulatedWorld(chain("150 for 100; 20"))
    world.wait_until(100)
    assert world.recorder.recording("t").column("backlog")[-1] == pytest.approx(50 * 100)
    # The tuple served last came when two thirds of the time had passed: 100 of 150 tuples/s are served.
    assert figure(world, Subject.operator("work"), "lag_seconds") == pytest.approx(100 / 3, rel=0.02)
    world.wait_until(100 + 5000 / 80 + 5)
    assert world.recorder.recording("t").column("backlog")[-1] == 0


def test_no_tuple_is_lost_or_made_by_changes_and_failures():
    failures = (Failure(90, "b", 40),)
    world = SimulatedWorld(
        chain("70 for 200; 0", {"work": {"b": 1}}, failures=failures, noise=Noise(0.3), sample_seconds=1)
    )
    script = {40: changed(world, "work", {"a": 1, "b": 1})}
    run([Scripted(world, script)], world, 600)
    recording = world.recorder.recording("t")
    brought = np.sum(np.diff([0, *recording.seconds]) * np.array(recording.column("rate_tps")))
    left = SimulatedWorld(chain("70 for 200; 0", noise=Noise(0.3), sample_seconds=1))
    left.wait_until(600)
    again = left.recorder.recording("t")
    same = np.sum(np.diff([0, *again.seconds]) * np.array(again.column("rate_tps")))
    assert brought == pytest.approx(same)
    assert recording.column("backlog")[-1] == 0


def test_two_worlds_of_one_seed_are_the_same_and_of_another_are_not():
    def told(seed):
        world = SimulatedWorld(chain("ramp 20 180 for 300", noise=Noise(0.2, 5, 0.1, 0.1)), seed)
        run([Scripted(world, {100.0: changed(world, "work", {"a": 1, "c": 1})})], world, 300)
        return world.recorder.recording("t")

    assert told(1) == told(1)
    assert told(1) != told(2)


def test_what_sources_bring_does_not_depend_on_who_waits_for_what():
    coarse, fine = SimulatedWorld(chain(noise=Noise(0.3)), 5), SimulatedWorld(chain(noise=Noise(0.3)), 5)
    coarse.wait_until(100)
    for moment in np.linspace(0.7, 100, 63):
        fine.wait_until(float(moment))
    assert coarse.recorder.recording("t").column("rate_tps") == pytest.approx(
        fine.recorder.recording("t").column("rate_tps")
    )


def test_a_lost_node_buffers_its_share_until_its_replicas_are_moved():
    world = SimulatedWorld(chain("80", {"work": {"a": 1, "b": 1}}, failures=(Failure(50, "b"),)))
    world.wait_until(80)
    assert "b" not in world.infrastructure().index
    assert world.deployment()["work"]["b"] == 1
    assert world.recorder.recording("t").column("backlog")[-1] == pytest.approx(40 * 30, rel=0.01)
    assert isinstance(world.apply(changed(world, "work", {"a": 2})), Done)
    world.wait_until(120)
    assert world.recorder.recording("t").column("backlog")[-1] == 0
    assert any("node b is lost" in note.what for note in world.recorder.notes)


def test_a_lost_node_that_comes_back_takes_up_its_work():
    world = SimulatedWorld(chain("80", {"work": {"a": 1, "b": 1}}, failures=(Failure(50, "b", 20),)))
    world.wait_until(110)
    assert "b" in world.infrastructure().index
    assert world.recorder.recording("t").column("backlog")[-1] == 0
    # Whoever was stuck had waited for the whole time.
    assert max(v for v in responses(world) if v) > 10_000


def test_nothing_new_goes_to_a_node_that_is_lost_or_not_yet_up():
    world = SimulatedWorld(chain(failures=(Failure(10, "b"),)))
    name = world.start("small", "here")
    world.wait_until(15)
    for node in ("b", name):
        assert isinstance(world.apply(changed(world, "work", {"a": 1, node: 1})), Refused)
    world.wait_until(25)
    assert isinstance(world.apply(changed(world, "work", {"a": 1, name: 1})), Done)


def test_a_change_is_rolled_back_if_a_node_it_needs_is_lost_on_the_way():
    world = SimulatedWorld(chain(failures=(Failure(22, "b"),), downtime=FullRestart(10.0)))
    world.wait_until(20)
    before = world.deployment()
    effect = world.apply(changed(world, "work", {"a": 1, "b": 1}))
    assert effect == RolledBack("node b was lost")
    assert world.deployment() == before
    assert world.now_seconds() == 22


def test_a_released_node_is_paid_until_it_is_gone():
    world = SimulatedWorld(chain())
    name = world.start("small", "here")
    world.wait_until(60)
    world.stop(name)
    world.wait_until(80)
    recording = world.recorder.recording("t")
    cost = dict(zip(recording.seconds, recording.column("cost_per_hour"), strict=True))
    assert cost[60] - cost[80] == pytest.approx(0.5)
    assert cost[5] == cost[60]


def test_a_new_node_is_as_far_from_the_others_as_the_first_of_its_region():
    nodes = (Node("a", 8.0, region="here"), Node("b", 8.0, region="there"), Node("c", 8.0, region="there"))
    delays = DelayMatrix.of([[0, 30, 40], [31, 0, 5], [41, 6, 0]])
    links = (Link("a", "b", LinkQuality(30.0)), Link("b", "c", LinkQuality(5.0)))
    near = LinkQuality(delay_ms=1.0)
    for network in (
        Infrastructure("matrix", nodes, delays_ms=delays, default_link=near),
        Infrastructure("links", nodes, links, default_link=near),
    ):
        world = SimulatedWorld(chain(infrastructure=network))
        name = world.start("small", "there")
        world.wait_until(30)
        grown = world.infrastructure()
        at, index = grown.network.delay_ms, grown.index
        assert at[index[name], index["b"]] == at[index["b"], index[name]] == 1
        expected = {"matrix": (30, 31), "links": (31, 31)}[network.name]
        assert (at[index["a"], index[name]], at[index[name], index["a"]]) == expected
        assert at[index["c"], index[name]] == pytest.approx(6, abs=1)


def test_lost_samples_do_not_arrive():
    world = SimulatedWorld(chain(noise=Noise(lost=0.5)))
    world.wait_until(500)
    whole = SimulatedWorld(chain())
    whole.wait_until(500)
    assert len(world.samples()) == pytest.approx(len(whole.samples()) / 2, rel=0.15)


def test_a_scenario_that_cannot_run_is_refused_with_every_reason():
    with pytest.raises(InvalidModel, match="there is no node 'x'"):
        chain("50", {"work": {"x": 1}})
    with pytest.raises(InvalidModel, match="has 8 slots, 9 are needed"):
        chain("50", {"work": {"a": 7}})
    with pytest.raises(ValueError, match="no node 'x' that could fail"):
        SimulatedWorld(chain(failures=(Failure(1, "x"),)))


def test_failures_by_chance_are_as_frequent_and_as_long_as_they_should_be():
    found = random_failures(["a", "b"], 1e6, every_seconds=900, lasting_seconds=100, seed=1)
    assert len(found) == pytest.approx(2 * 1e6 / 1000, rel=0.1)
    assert np.mean([failure.lasts_seconds for failure in found]) == pytest.approx(100, rel=0.1)
    assert list(found) == sorted(found)


@pytest.mark.parametrize("stretch", [0.0, 7.0, 3600.0])
def test_how_far_is_computed_ahead_makes_no_difference_to_the_last_bit(monkeypatch, stretch):
    """Through calm and overload, a change, a node that is lost, and waiting for moments off the grid of steps."""

    def recorded():
        scenario = chain(
            "ramp 20 150 for 300; ramp 150 20 for 300",
            {"work": {"a": 1, "b": 1}},
            noise=Noise(0.1, measurement=0.05),
            failures=(Failure(420.0, "b", 60.0),),
        )
        world = SimulatedWorld(scenario, seed=4)
        loop = Scripted(world, {200.0: changed(world, "work", {"a": 2, "c": 1})}, period_seconds=2.5)
        run([loop], world, 600.0)
        return world.recorder.recording("test"), loop.seen

    usual = recorded()
    monkeypatch.setattr("rheostat.simulation.world.simulated_world.STRETCH_SECONDS", stretch)
    assert recorded() == usual
