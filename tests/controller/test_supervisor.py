"""Failover of dead agents: others take over at once, without waiting for a Spark to start if there is another."""

import threading
import time
from dataclasses import dataclass, field

import pytest
from tests.cli.quiet_nodes import THREE, quiet_run

from rheostat.control.history.journal import MemoryJournal, MemoryStore
from rheostat.controller.bring_up import owns_run
from rheostat.controller.supervisor import ATTEMPTS, AgentSupervisor
from rheostat.controller.watchdog import SILENCES
from rheostat.errors import NodeUnreachable
from rheostat.runtime.nodes.memory_node import MemoryNode


class WarmingNode(MemoryNode):
    """A node whose Spark is cold until it is said to be warm."""

    def __init__(self, name):
        super().__init__(name)
        self.warm = threading.Event()

    def is_warm(self):
        return self.warm.is_set()


@dataclass
class FakeProcess:
    """An agent's process without a process: started when it is let, dead when it is killed."""

    name: str
    told: list[str]
    is_up: bool = False
    is_alive: bool = False
    may_start: threading.Event = field(default_factory=threading.Event)
    broken: bool = False
    silent: bool = False
    dies_when_asked: bool = False
    node: WarmingNode | None = None

    def adopt(self):
        if self.dies_when_asked:
            self.is_up = self.is_alive = False
        if not (self.is_up and self.is_alive):
            return None
        self.told.append(f"adopt {self.name}")
        return self._reached()

    def start(self):
        self.told.append(f"start {self.name}")
        assert self.may_start.wait(30), "nobody let it start"
        if self.broken:
            raise NodeUnreachable(self.name, "its agent ended with 1")
        self.is_alive = True
        return self._reached()

    def _reached(self):
        self.node = WarmingNode(self.name)
        return self.node

    def is_silent(self, _patience_seconds):
        return self.silent

    def put_down(self, why):
        self.told.append(f"put down {self.name}: {why}")
        self.silent = False
        self.die()

    def bury(self):
        self.told.append(f"bury {self.name}")

    def stop(self):
        self.told.append(f"stop {self.name}")
        self.is_alive, self.broken = False, True
        self.may_start.set()

    def die(self):
        self.is_alive = self.is_up = False
        self.may_start.clear()
        self.node = None


@dataclass
class Scene:
    """`words` on three nodes with the agents of n1 and n2, everything in one instance on n1 at first."""

    running: object
    agents: AgentSupervisor
    processes: dict[str, FakeProcess]
    told: list[str]

    @property
    def runtime(self):
        return self.running.controller.runtime

    def look(self):
        found = self.agents.revive(self.runtime)
        self.runtime.heal()
        return found

    def until(self, reached):
        deadline = time.monotonic() + 30
        while not reached():
            assert time.monotonic() < deadline, "out of patience"
            self.look()
            time.sleep(0.01)

    def runs_on(self):
        nodes = {node.name: node for node in self.runtime.nodes_up()}
        return {name for name, node in nodes.items() if node.running}


@pytest.fixture
def scene(tmp_path):
    told, processes = [], {}

    def make(node):
        processes[node.name] = FakeProcess(node.name, told)
        processes[node.name].may_start.set()
        return processes[node.name]

    with quiet_run(tmp_path / "app") as running:
        agents = AgentSupervisor(make)
        for node in THREE.nodes[:2]:
            agents.start(node)
        told.clear()
        yield Scene(running, agents, processes, told)
        agents.stop()


def killed(scene, name):
    scene.processes[name].die()
    if name in scene.running.nodes:
        scene.running.nodes[name].kill()


def test_others_run_what_ran_there_before_the_agent_is_back(scene):
    killed(scene, "n1")
    assert scene.look()
    assert scene.runs_on() == {"n2"}
    assert not scene.look(), "it is known to be gone"
    assert scene.told == ["bury n1", "start n1"], "what it left behind has ended before anybody takes over"


def test_one_that_stands_still_is_ended_also_if_it_has_come_later(scene):
    scene.processes["n2"].silent = True
    scene.agents.start(THREE.nodes[2])
    scene.processes["n3"].silent = True
    scene.told.clear()
    for _ in range(SILENCES):
        scene.agents._watchdog.round()
    assert [told.split(":")[0] for told in scene.told] == ["put down n2", "put down n3"]
    assert scene.processes["n1"].is_alive


def test_it_has_its_own_back_when_it_is_warm(scene):
    killed(scene, "n1")
    scene.look()
    scene.processes["n1"].may_start.set()
    scene.until(lambda: scene.processes["n1"].node is not None)
    for _ in range(3):
        scene.look()
    assert scene.runs_on() == {"n2"}, "a cold Spark would stand still for many seconds"
    scene.processes["n1"].node.warm.set()
    scene.until(lambda: scene.runs_on() == {"n1"})


def test_one_that_dies_again_while_it_warms_up_is_started_again(scene):
    killed(scene, "n1")
    scene.look()
    scene.processes["n1"].may_start.set()
    scene.until(lambda: scene.processes["n1"].node is not None)
    cold = scene.processes["n1"].node
    scene.processes["n1"].die()
    cold.warm.set()
    scene.until(lambda: scene.told.count("start n1") == 2)
    assert scene.runs_on() == {"n2"}
    assert not cold.running, "nothing was given to it"
    assert scene.told.count("bury n1") == 2
    scene.processes["n1"].may_start.set()
    scene.until(lambda: scene.processes["n1"].node is not None)
    scene.processes["n1"].node.warm.set()
    scene.until(lambda: scene.runs_on() == {"n1"})


def test_one_that_never_comes_up_is_given_up_and_the_others_go_on(scene):
    scene.processes["n1"].broken = True
    killed(scene, "n1")
    scene.processes["n1"].may_start.set()
    scene.look()
    scene.until(lambda: not scene.agents.absent)
    scene.look()
    assert scene.told.count("start n1") == ATTEMPTS
    assert scene.runs_on() == {"n2"}


def test_without_any_other_node_the_first_that_is_back_is_awaited_and_used_cold(scene):
    for name in ("n2", "n3"):
        scene.runtime.lose(name)
    killed(scene, "n1")
    letting = threading.Timer(0.2, scene.processes["n1"].may_start.set)
    letting.start()
    assert scene.look()
    assert scene.runs_on() == {"n1"}
    assert not scene.processes["n1"].node.is_warm()
    letting.join()


def test_one_that_is_released_on_its_way_is_not_used(scene):
    killed(scene, "n2")
    scene.look()
    scene.runtime.leave("n2")
    scene.agents.end("n2")
    scene.until(lambda: not scene.agents.absent)
    assert scene.told.count("start n2") == 1, "nor is it started once more"
    assert "n2" not in {node.name for node in scene.runtime.nodes_up()}


def test_ending_ends_one_that_is_just_being_started(scene):
    killed(scene, "n1")
    scene.look()
    scene.agents.stop()
    assert scene.told.count("start n1") == 1
    assert not any(process.is_alive for process in scene.processes.values())


class TestTakingUp:
    """What a controller does whose predecessor has died."""

    @pytest.fixture
    def left(self):
        """n1 and n3 were left running, the agent of n2 died."""
        told = []
        processes = {name: FakeProcess(name, told, is_up=True, is_alive=True) for name in ("n1", "n3")}
        processes["n2"] = FakeProcess("n2", told)
        agents = AgentSupervisor(lambda node: processes[node.name])
        yield agents, processes, told
        agents.stop()

    def test_those_that_are_up_go_on_at_once(self, left):
        agents, processes, told = left
        assert set(agents.start_all(THREE.nodes, taking_up=True)) == {"n1", "n3"}
        assert agents.absent == ("n2",)
        assert "bury n2" in told
        assert not processes["n2"].may_start.is_set()

    def test_one_that_dies_while_it_is_asked_is_not_awaited(self, left):
        agents, processes, told = left
        processes["n3"].dies_when_asked = True
        assert set(agents.start_all(THREE.nodes, taking_up=True)) == {"n1"}
        assert set(agents.absent) == {"n2", "n3"}
        assert {"bury n2", "bury n3"} <= set(told)
        assert not processes["n3"].may_start.is_set()

    def test_if_all_die_while_they_are_asked_all_are_awaited(self, left):
        agents, processes, _ = left
        for process in processes.values():
            process.dies_when_asked = True
            process.may_start.set()
        assert set(agents.start_all(THREE.nodes, taking_up=True)) == {"n1", "n2", "n3"}
        assert agents.absent == ()

    def test_a_new_run_waits_for_all_of_them(self, left):
        agents, processes, _ = left
        letting = threading.Timer(0.2, processes["n2"].may_start.set)
        letting.start()
        assert set(agents.start_all(THREE.nodes)) == {"n1", "n2", "n3"}
        assert agents.absent == ()
        letting.join()

    def test_if_nobody_was_left_all_are_awaited(self, left):
        agents, processes, _ = left
        for process in processes.values():
            process.is_up = process.is_alive = False
            process.may_start.set()
        assert set(agents.start_all(THREE.nodes, taking_up=True)) == {"n1", "n2", "n3"}


def test_agents_of_a_run_that_was_taken_over_are_left_running(scene):
    scene.told.clear()
    scene.processes["n1"].silent = True
    scene.agents.abandon()
    for _ in range(SILENCES + 1):
        scene.agents._watchdog.round()
    assert scene.told == [], "not stopped, and no longer killed"
    assert all(process.is_alive for process in scene.processes.values())


def test_a_controller_knows_whether_it_still_owns_the_run():
    store = MemoryStore()
    first = MemoryJournal(store)
    assert owns_run(first)
    second = MemoryJournal(store)
    assert (owns_run(first), owns_run(second)) == (False, True)
