"""Contract of every scaling policy, ours or a user's."""

import json
from dataclasses import fields, replace
from math import inf, isfinite, nan

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rheostat.policies.contract.policy_views import ApplicationView, OperatorView

# A policy is a frozen value, so all examples may have the same one; and a contract is inherited on purpose.
ON_ONE_POLICY = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)

ODD = st.sampled_from([None, nan, inf, -inf, 0.0, -1.0, 1e308, 5e-324])


ANY = st.floats(0, 2000) | ODD
SILENT = st.sampled_from([0.0, nan])


@st.composite
def operator_views(draw, figures=ANY):
    """An operator in any state, its figures known, odd or missing."""
    least = draw(st.integers(1, 3))
    most = draw(st.integers(least, 8))
    replicas = draw(st.integers(1, 8))
    busy = draw(st.sampled_from([(0.1,), (0.9,), (0.5, 0.9), (0.0,), (nan,), (1.5, 0.2), ()]))
    utilizations = tuple(busy[i % len(busy)] for i in range(replicas)) if busy else ()
    rate, latency, true_rate, backlog = draw(st.tuples(*[figures] * 4))
    return OperatorView("count", 0.0, replicas, least, most, utilizations, rate, latency, true_rate, backlog)


def histories(figures=ANY):
    """Views of one operator every 30 seconds, whose bounds may be moved."""
    views = st.lists(operator_views(figures), min_size=1, max_size=6)
    return views.map(lambda drawn: [replace(view, at_seconds=30.0 * i) for i, view in enumerate(drawn)])


class PolicyContract:
    """What holds for both kinds; use one of the two below."""

    def decide(self, policy, view, memory):
        """Its proposal for that operator, and its memory."""
        raise NotImplementedError

    def played(self, policy, views, memory=None):
        """All proposals for a history, and the memory at its end."""
        memory, proposals = policy.begin() if memory is None else memory, []
        for view in views:
            proposal, memory = self.decide(policy, view, memory)
            proposals.append(proposal)
        return proposals, memory

    def test_it_has_a_name_and_is_a_frozen_value(self, policy):
        assert policy.name
        assert policy == replace(policy)
        for field in fields(policy):
            with pytest.raises(AttributeError):
                setattr(policy, field.name, None)

    @ON_ONE_POLICY
    @given(views=histories())
    def test_it_never_proposes_what_the_bounds_forbid(self, policy, views):
        for view, proposal in zip(views, self.played(policy, views)[0], strict=True):
            within = view.min_replicas <= proposal.wanted <= view.max_replicas
            assert within or proposal.wanted == view.replicas
            assert 0 <= proposal.score <= 1

    @ON_ONE_POLICY
    @given(views=histories())
    def test_the_same_history_gets_the_same_answers(self, policy, views):
        first, end = self.played(policy, views)
        again, end_again = self.played(replace(policy), views)
        assert first == again
        assert policy.saved(end) == policy.saved(end_again)

    @ON_ONE_POLICY
    @given(views=histories())
    def test_deciding_changes_nothing_it_was_given(self, policy, views):
        _, memory = self.played(policy, views)
        before = json.dumps(policy.saved(memory))
        first, _ = self.decide(policy, views[-1], memory)
        second, _ = self.decide(policy, views[-1], memory)
        assert first == second
        assert json.dumps(policy.saved(memory)) == before

    @ON_ONE_POLICY
    @given(views=histories(), at=st.integers(0, 5))
    def test_it_goes_on_from_what_was_saved_as_if_nothing_had_happened(self, policy, views, at):
        _, memory = self.played(policy, views[:at])
        restored = policy.loaded(json.loads(json.dumps(policy.saved(memory), allow_nan=False)))
        for view in views[at:]:
            proposal, memory = self.decide(policy, view, memory)
            same, restored = self.decide(policy, view, restored)
            assert proposal == same

    @ON_ONE_POLICY
    @given(views=histories(), replicas=st.integers(1, 8))
    def test_it_holds_when_nothing_is_known_and_says_why(self, policy, views, replicas):
        _, memory = self.played(policy, views)
        unknown = OperatorView("count", 30.0 * len(views), replicas, 1, 8)
        proposal, _ = self.decide(policy, unknown, memory)
        assert proposal.wanted == replicas
        assert proposal.reason

    @ON_ONE_POLICY
    @given(views=histories(SILENT))
    def test_it_survives_silence_and_what_is_no_number(self, policy, views):
        for proposal in self.played(policy, views)[0]:
            assert isfinite(proposal.score)
            assert proposal.reason


class OperatorPolicyContract(PolicyContract):
    """Give a fixture `policy` that scales an operator called `count`."""

    def decide(self, policy, view, memory):
        return policy.decide(view, memory)


class ApplicationPolicyContract(PolicyContract):
    """Give a fixture `policy` that scales an application; `count` is read behind a source of the same rate."""

    def decide(self, policy, view, memory):
        source = OperatorView("source", view.at_seconds, 1, input_rate_tps=view.input_rate_tps)
        whole = ApplicationView(view.at_seconds, (source, view), (("source", "count", 1.0),))
        proposals, memory = policy.decide_all(whole, memory)
        assert proposals.keys() == {"source", "count"}
        return proposals["count"], memory
