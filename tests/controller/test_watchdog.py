"""An agent that leaves question after question open is ended; one that is only slow, or dead, or starting, is not."""

from dataclasses import dataclass, field
from threading import Barrier, Event

import pytest

from rheostat.controller.watchdog import SILENCES, Watchdog


@dataclass
class Agent:
    """Silent when the test says so."""

    name: str
    silent: bool = False
    reasons: list[str] = field(default_factory=list)
    ended: Event = field(default_factory=Event)

    def is_silent(self, _patience_seconds):
        return self.silent

    def put_down(self, why):
        self.reasons.append(why)
        self.silent = False
        self.ended.set()


@pytest.fixture
def agents():
    return [Agent("n1"), Agent("n2")]


@pytest.fixture
def watchdog(agents):
    return Watchdog(lambda: agents, round_seconds=0.001, patience_seconds=2)


def rounds(watchdog, count):
    for _ in range(count):
        watchdog.round()


def test_it_is_ended_when_it_has_been_silent_for_long_and_nobody_else_is(watchdog, agents):
    agents[1].silent = True
    rounds(watchdog, SILENCES - 1)
    assert agents[1].reasons == []
    watchdog.round()
    assert agents[1].reasons == [f"it left {SILENCES} questions in a row open, 2 s each"]
    assert agents[0].reasons == []


def test_an_answer_in_between_makes_up_for_all_before(watchdog, agents):
    for _ in range(3):
        agents[0].silent = True
        rounds(watchdog, SILENCES - 1)
        agents[0].silent = False
        watchdog.round()
    assert agents[0].reasons == []


def test_its_successor_begins_anew(watchdog, agents):
    agents[0].silent = True
    rounds(watchdog, SILENCES)
    agents[0].silent = True
    rounds(watchdog, SILENCES - 1)
    assert len(agents[0].reasons) == 1
    watchdog.round()
    assert len(agents[0].reasons) == 2


def test_nobody_waits_for_the_silence_of_others(agents):
    together = Barrier(len(agents), timeout=30)
    for agent in agents:
        agent.is_silent = lambda _: together.wait() < 0
    Watchdog(lambda: agents).round()
    assert not together.broken


def test_nobody_is_ended_after_it_was_stopped(watchdog, agents):
    agents[0].silent = True
    rounds(watchdog, SILENCES - 1)
    watchdog.stop()
    rounds(watchdog, SILENCES)
    assert agents[0].reasons == []


def test_it_asks_by_itself_and_also_whoever_comes_later(watchdog, agents):
    watchdog.start()
    try:
        late = Agent("n3", silent=True)
        agents.append(late)
        assert late.ended.wait(30)
    finally:
        watchdog.stop()


def test_without_agents_there_is_nobody_to_ask():
    Watchdog(list).round()
