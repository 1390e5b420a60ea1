"""The world as a Gymnasium environment; Gymnasium is installed for the tests as the extra `learn`."""

from dataclasses import replace

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from tests.simulation.scenes import chain

from rheostat.policies.operators.period_cost import Weights
from rheostat.simulation.queues.noise import Noise
from rheostat.simulation.studies.scaling_environment import ScalingEnvironment, Task
from rheostat.simulation.world.node_failures import Failure


def task(workload="120", **others):
    return Task(chain(workload, {"work": {"a": 2}}, **others), objective_ms=100, periods=20)


def test_gymnasiums_own_checker_accepts_it():
    check_env(ScalingEnvironment(task(noise=Noise(0.1, measurement=0.05))), skip_render_check=True)


def test_actions_add_and_remove_replicas_within_their_bounds():
    environment = ScalingEnvironment(task())
    environment.reset(seed=1)
    more, same, fewer = (np.array([action, 1]) for action in (2, 1, 0))
    degrees = []
    for action in (more, same, fewer, fewer, fewer, *[more] * 9):
        environment.step(action)
        degrees.append(len(environment.world.deployment()["work"]))
    assert degrees == [3, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8]


def test_a_period_is_paid_for_replicas_for_being_slow_and_for_changing():
    environment = ScalingEnvironment(Task(chain("120", {"work": {"a": 2}}), 100, 30, 20, Weights(0.3, 0.6, 0.1)))
    environment.reset(seed=1)
    hold, scale_in = np.array([1, 1]), np.array([0, 1])
    assert environment.step(hold)[1] == pytest.approx(-0.1 * 4 / 11)
    assert environment.step(scale_in)[1] == pytest.approx(-0.3 - 0.6 - 0.1 * 3 / 11)
    assert environment.step(hold)[1] == pytest.approx(-0.6 - 0.1 * 3 / 11)


def test_what_is_seen_is_what_happens():
    environment = ScalingEnvironment(task("120"))
    seen, told = environment.reset(seed=1)
    assert seen[:4] == pytest.approx([2 / 8, 0.6, 120 / 800, 0], rel=1e-3)
    assert seen[-1] == pytest.approx(told["response_ms"] / (told["response_ms"] + 100))


def test_an_episode_ends_after_its_periods_and_the_same_seed_gives_the_same_one():
    def rewards(seed):
        environment = ScalingEnvironment(task("ramp 20 400 for 700", noise=Noise(0.3)))
        environment.reset(seed=seed)
        found, over = [], False
        while not over:
            _, reward, terminated, over, _ = environment.step(np.array([len(found) % 3, 1]))
            assert not terminated
            found.append(reward)
        return found

    assert rewards(1) == rewards(1)
    assert rewards(1) != rewards(2)
    assert len(rewards(1)) == 20


def test_a_replica_on_a_lost_node_is_the_first_to_go():
    environment = ScalingEnvironment(Task(chain("50", {"work": {"a": 1, "b": 1}}, failures=(Failure(10, "b"),))))
    environment.reset(seed=1)
    environment.step(np.array([0, 1]))
    assert list(environment.world.deployment()["work"]) == ["a"]


def test_a_task_with_nothing_to_decide_is_refused():
    scene = chain()
    with pytest.raises(ValueError, match="> 0"):
        Task(scene, periods=0)
    fixed = tuple(replace(operator, max_replicas=1) for operator in scene.application.operators)
    with pytest.raises(ValueError, match="nothing can be learned"):
        Task(chain(application=replace(scene.application, operators=fixed)))
