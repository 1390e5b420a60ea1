"""A replay follows every memory that a manager may have had, and no other."""

from dataclasses import dataclass
from typing import ClassVar

from rheostat.control.history.replayed_memory import ReplayedMemory
from rheostat.policies.contract.policy import Proposal
from rheostat.policies.contract.policy_views import OperatorView

VIEW = OperatorView("count", 0.0, 1, 1, 9, (0.5,), 10.0, 1.0, 20.0, 0.0)


@dataclass(frozen=True)
class Counting:
    """Wants a third replica at every third step: most of the time its memory cannot be seen."""

    name: ClassVar[str] = "counting"

    def begin(self):
        return 0

    def decide(self, view, memory):  # noqa: ARG002 - the protocol
        return Proposal(3 if memory % 3 == 2 else 1), memory + 1

    def saved(self, memory):
        return memory

    def loaded(self, plain):
        return plain


def follow(memory, wanted):
    """What is decided at each step, where a decision of `wanted` was journaled."""
    return [memory.decide(VIEW, Proposal(one)).wanted for one in wanted]


def test_without_restarts_there_is_one_memory_and_it_decides():
    memory = ReplayedMemory(Counting())
    assert follow(memory, [1, 1, 3, 1, 1, 3]) == [1, 1, 3, 1, 1, 3]
    assert follow(memory, [3]) == [1], "it could not be 3"


def test_a_restart_shows_only_later_and_is_found_all_the_same():
    memory = ReplayedMemory(Counting(), restarts=True)
    # After four steps it is started again, from the beginning: 1, 1, 3, 1 and then 1, 1, 3.
    assert follow(memory, [1, 1, 3, 1, 1, 1, 3]) == [1, 1, 3, 1, 1, 1, 3]


def test_what_no_memory_explains_is_a_difference():
    memory = ReplayedMemory(Counting(), restarts=True)
    assert follow(memory, [1, 1, 3, 3]) == [1, 1, 3, 1]


def test_a_journaled_memory_ends_all_doubts():
    memory = ReplayedMemory(Counting(), restarts=True)
    follow(memory, [1, 1])
    assert len(memory.possible) > 1
    memory.take(2)
    assert list(memory.possible.values()) == [2]
    assert follow(memory, [3]) == [3]


def test_a_memory_kept_over_a_takeover_is_one_of_them():
    memory = ReplayedMemory(Counting(), restarts=True)
    memory.add(0)
    memory.add(2)
    assert follow(memory, [3, 1]) == [3, 1]
