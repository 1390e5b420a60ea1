"""The controller and the managers on the nodes: one for every operator, heard once, answered, and found again."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from tests.control.still_world import StillWorld

from rheostat.control.managers.decisions import DECISION, EFFECT
from rheostat.control.managers.operator_manager import PROPOSAL
from rheostat.control.remote.local_managers import LocalManagers
from rheostat.control.remote.manager_messages import Orders
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import build
from rheostat.controller.remote_managers import TOLD_BY, RemoteManagers
from rheostat.errors import NodeUnreachable
from rheostat.model.graph.deployment import Replicas
from rheostat.runtime.nodes.node_messages import MANAGERS, ManagerAnswer
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.plan.physical_plan import PhysicalPlan

SETTINGS = ControlSettings("edf", settle_seconds=20.0, memory_every=1)


@dataclass
class Agent:
    """A node whose agent answers, unless it is out of reach; its managers see the same world."""

    name: str
    world: StillWorld
    silent: bool = False
    heard: list = field(default_factory=list)
    managers: LocalManagers | None = None
    known: str = ""

    def exchange(self, question):
        if self.silent:
            raise NodeUnreachable(self.name, "silent")
        question = MANAGERS.question.validate_json(MANAGERS.question.dump_json(question))
        self.heard.append(question)
        if question.snapshot is not None:
            self.managers = self.managers or LocalManagers(self.name, SETTINGS, self.world.application, self.world)
            self.known = question.fingerprint
        if question.orders is None:
            return ManagerAnswer(None if self.managers is None else self.managers.report())
        if self.managers is None or question.fingerprint != self.known:
            return ManagerAnswer()
        answer = ManagerAnswer(self.managers.take(question.orders))
        return MANAGERS.answer.validate_json(MANAGERS.answer.dump_json(answer))

    def restart(self):
        self.managers, self.known = None, ""


class Running:
    """The little that remote managers want to know of a runtime."""

    def __init__(self, world, agents):
        self.world, self.agents = world, agents
        self.monitor = SimpleNamespace(settings=SimpleNamespace(period_seconds=5.0))
        self.blueprint = SimpleNamespace(application=world.application, columns={}, settings=RuntimeSettings())
        self.deployment, self.infrastructure = world.deployment, world.infrastructure

    @property
    def plan(self):
        return PhysicalPlan(self.world.deployed, (), 0, {})

    def nodes_up(self):
        return [agent for agent in self.agents if agent.name in self.world.at.index]

    def stand_ins(self):
        return {}


class Place:
    """Agents, a controller, and time that passes."""

    def __init__(self):
        self.world = StillWorld(work={"source": 0.1, "split": 0.5, "count": 0.9})
        self.agents = {node.name: Agent(node.name, self.world) for node in self.world.at.nodes}
        self.running = Running(self.world, list(self.agents.values()))
        self.begin()

    def begin(self):
        """A controller comes; what a former one has journaled is there."""
        self.posts = RemoteManagers(self.running, self.world, SETTINGS, self.world.journal, self.world.clock)
        parts = self.world.world()
        self.control = build(SETTINGS, type(parts)(**{**vars(parts), "actuator": self.posts, "requests": self.posts}))
        self.posts.state = self.control.state

    def agents_step(self, moment):
        self.world.clock.wait_until(moment)
        for agent in self.agents.values():
            if agent.managers is not None:
                agent.managers.step(moment)

    def controller_steps(self, moment):
        self.world.clock.wait_until(moment)
        for loop in (self.posts, *self.control.loops):
            loop.step(moment)

    def homes(self):
        held = [
            (name, agent.name) for agent in self.agents.values() if agent.managers for name in agent.managers.operators
        ]
        assert len(dict(held)) == len(held), "one manager for an operator"
        return dict(held)


@pytest.fixture
def place():
    return Place()


def test_every_operator_that_can_be_scaled_has_one_manager_where_most_of_it_runs(place):
    place.posts.step(0.0)
    assert place.homes() == {"split": "n1", "count": "n2"}
    assert place.control.operators == (), "and none in the controller"


def test_what_a_manager_asks_for_is_granted_and_settles_on_all_nodes(place):
    place.posts.step(0.0)
    place.agents_step(30.0)
    place.controller_steps(31.0)
    (change,) = place.world.changes
    assert [each.operator for each in change.changes] == ["count"]
    kinds = [entry.kind for _, entry in place.world.journal.read()]
    assert kinds.index(PROPOSAL) < kinds.index(DECISION) < kinds.index(EFFECT), "as it happened"
    held = place.agents["n1"].heard[-1].orders.held_until_seconds
    assert held > place.world.clock.now_seconds(), "nobody looks while the change is under way"
    place.posts.step(36.0)
    orders = place.agents["n1"].heard[-1].orders
    assert (orders.held_until_seconds, orders.settled_at_seconds) == (0.0, 53.0)
    place.world.work["count"] = 3.0
    place.agents_step(40.0)
    place.controller_steps(41.0)
    assert len(place.world.changes) == 1, "it settles"


def test_a_request_is_answered_once(place):
    place.posts.step(0.0)
    place.agents_step(30.0)
    asked = place.posts.take_all()
    assert [request.change.operator for request in asked] == ["count"]
    assert place.posts.take_all() == [], "it was answered with the next message"


def test_every_proposal_is_journaled_once_however_often_it_is_told(place):
    place.posts.step(0.0)
    place.agents_step(30.0)
    place.posts.exchange()
    # Journaled, but the agents have not heard that it was: they will tell it to the next controller, too.
    place.begin()
    for _ in range(3):
        place.posts.exchange()
    marks = [tuple(entry.facts[TOLD_BY]) for _, entry in place.world.journal.read() if TOLD_BY in entry.facts]
    assert marks
    assert len(set(marks)) == len(marks)


def test_while_the_controller_is_away_managers_go_on_and_the_next_one_hears_of_it(place):
    place.posts.step(0.0)
    homes = place.homes()
    for moment in (30.0, 60.0, 90.0):
        place.agents_step(moment)
    place.world.deployed = place.world.deployed.having("count", Replicas.on("n3", "n4"))
    place.begin()
    place.posts.step(95.0)
    assert place.homes() == homes, "managers stay where they are"
    moments = [e.at_seconds for _, e in place.world.journal.read(kind=PROPOSAL) if e.facts["by"].endswith("count")]
    assert moments == [30.0, 60.0, 90.0]


def test_a_manager_whose_node_is_lost_goes_on_elsewhere_with_what_it_had_learned(place):
    place.posts.step(0.0)
    place.agents_step(30.0)
    place.posts.step(31.0)
    place.world.lose("n2")
    place.posts.step(35.0)
    del place.agents["n2"]
    (home,) = (agent for agent in place.agents.values() if "count" in agent.managers.operators)
    assert home.heard[-1].orders.memories["count"]["policy"] == "threshold"


def test_the_old_manager_of_an_operator_is_not_heard(place):
    place.posts.step(0.0)
    place.agents_step(30.0)
    place.posts.exchange()
    place.agents["n3"].managers.take(Orders(("count",)))
    place.agents["n3"].managers.step(30.0)
    asked = place.posts.take_all()
    assert len(asked) == 1


def test_an_agent_that_was_started_again_is_told_everything(place):
    place.posts.step(0.0)
    place.agents["n2"].restart()
    place.posts.step(5.0)
    assert place.homes() == {"split": "n1", "count": "n2"}


def test_one_that_is_silent_does_not_hold_up_the_others(place):
    place.agents["n0"].silent = True
    place.posts.step(0.0)
    assert place.homes() == {"split": "n1", "count": "n2"}
    place.agents_step(30.0)
    assert place.posts.take_all()


def test_paused_nobody_looks(place):
    place.posts.step(0.0)
    place.posts.pause()
    place.agents_step(30.0)
    assert all(not agent.managers.report().entries for agent in place.agents.values())
    place.posts.step(40.0)
    place.agents_step(60.0)
    assert any(agent.managers.report().entries for agent in place.agents.values())


def test_what_runs_is_told_when_it_has_changed_and_only_then(place):
    agent = place.agents["n1"]
    place.posts.step(0.0)
    place.posts.step(5.0)
    assert [question.snapshot is not None for question in agent.heard[1:]] == [True, False]
    place.world.deployed = place.world.deployed.having("split", place.world.deployed["count"])
    place.posts.step(10.0)
    assert agent.heard[-1].snapshot is not None
