"""Guards around any policy."""

import json
from dataclasses import dataclass
from typing import ClassVar

import pytest
from tests.contracts.policy import ApplicationPolicyContract, OperatorPolicyContract

from rheostat.policies.contract.guards import (
    Confirmation,
    CoolDown,
    ExcludedPeriods,
    Guarded,
    GuardedApplication,
    ReplicaBounds,
)
from rheostat.policies.contract.policy import Proposal, WithoutMemory
from rheostat.policies.contract.policy_views import OperatorView
from rheostat.policies.operators.flink import Flink
from rheostat.policies.operators.q_learning import QLearning
from rheostat.policies.operators.threshold import Threshold


@dataclass(frozen=True)
class Wants(WithoutMemory):
    """Always the same, or what a list says by the minute."""

    name: ClassVar[str] = "wants"

    by_minute: tuple[int, ...]

    def decide(self, view, memory):
        wanted = self.by_minute[min(len(self.by_minute) - 1, int(view.at_seconds // 60))]
        return Proposal(wanted, 0.5, "so it wants"), memory


def view(minute, replicas=2, least=1, most=8):
    return OperatorView("count", 60.0 * minute, replicas, least, most)


def decided(policy, views):
    memory, found = policy.begin(), []
    for seen in views:
        proposal, memory = policy.decide(seen, memory)
        memory = policy.loaded(json.loads(json.dumps(policy.saved(memory))))
        found.append(proposal)
    return found


def test_bounds_are_narrower_than_the_operators_own():
    guarded = Guarded(Wants((7, 1, 3)), (ReplicaBounds(2, 4),))
    assert [p.wanted for p in decided(guarded, [view(0, 3), view(1, 3), view(2, 3)])] == [4, 2, 3]


def test_at_a_bound_it_holds_and_tells_what_was_wanted():
    (proposal,) = decided(Guarded(Wants((7,)), (ReplicaBounds(1, 4),)), [view(0, 4)])
    assert proposal.wanted == 4
    assert proposal.reason == "bounds are 1 to 4; else 7 replicas, since so it wants"


def test_a_cool_down_starts_when_the_replicas_have_changed_and_is_longer_for_a_scale_in():
    guarded = Guarded(Wants((3, 4, 4, 5)), (CoolDown(90, 600),))
    seen = decided(guarded, [view(0, 2), view(1, 3), view(2, 3), view(3, 3)])
    assert [p.wanted for p in seen] == [3, 3, 3, 5]
    assert seen[1].reason.startswith("cool-down, 90 s left; else 4 replicas")
    down = decided(Guarded(Wants((3, 1)), (CoolDown(0, 600),)), [view(0, 2), *(view(m, 3) for m in range(1, 12))])
    assert [p.wanted for p in down] == [3] * 11 + [1]


def test_a_confirmation_takes_the_same_direction_several_times_in_a_row():
    guarded = Guarded(Wants((3, 1, 3, 4, 2, 3)), (Confirmation(2),))
    assert [p.wanted for p in decided(guarded, [view(m) for m in range(6)])] == [2, 2, 2, 4, 2, 2]


def test_one_confirmation_is_none():
    assert [p.wanted for p in decided(Guarded(Wants((3,)), (Confirmation(1),)), [view(0)])] == [3]


def test_periods_of_the_day_are_excluded_also_over_midnight_and_on_the_next_day():
    guarded = Guarded(Wants((3,)), (ExcludedPeriods(((3600, 7200), (82_800, 1800))),))
    hours = [0, 0.5, 1, 1.99, 2, 22.9, 23, 24.4, 24.5, 25]
    found = [p.wanted for p in decided(guarded, [view(60 * hour) for hour in hours])]
    assert found == [2, 3, 2, 2, 3, 3, 2, 2, 3, 2]


def test_midnight_is_when_it_is_said_to_be():
    guarded = Guarded(Wants((3,)), (ExcludedPeriods(((0, 60),), midnight_seconds=120),))
    assert [p.wanted for p in decided(guarded, [view(1), view(2), view(3)])] == [3, 2, 3]


def test_guards_are_passed_one_after_the_other():
    guarded = Guarded(Wants((9,)), (ReplicaBounds(1, 4), Confirmation(2)))
    assert [p.wanted for p in decided(guarded, [view(0), view(1)])] == [2, 4]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ReplicaBounds(3, 2), "least"),
        (lambda: CoolDown(-1), "seconds >= 0"),
        (lambda: Confirmation(0), "times >= 1"),
        (lambda: ExcludedPeriods(((5, 5),)), "second of the day"),
        (lambda: ExcludedPeriods(((5, 90_000),)), "second of the day"),
    ],
)
def test_guards_that_make_no_sense_are_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


ALL = (ReplicaBounds(1, 6), CoolDown(30, 60), Confirmation(2), ExcludedPeriods(((0, 10),)))


class TestGuardedContract(OperatorPolicyContract):
    @pytest.fixture
    def policy(self):
        return Guarded(Threshold(), ALL)


class TestGuardedLearnerContract(OperatorPolicyContract):
    @pytest.fixture
    def policy(self):
        return Guarded(QLearning(rate_levels=3), ALL)


class TestGuardedApplicationContract(ApplicationPolicyContract):
    @pytest.fixture
    def policy(self):
        return GuardedApplication(Flink(scale_down_delay_seconds=30), ALL)
