"""Contract of every granting policy, ours or a user's."""

import json
from dataclasses import replace
from math import inf, nan

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rheostat.model.graph.deployment import Replicas
from rheostat.model.graph.reconfiguration import Change
from rheostat.policies.contract.requests import Request, prioritised
from rheostat.policies.grants.grants import GrantSituation

# A granting policy is a frozen value, so all examples may have the same one; a contract is inherited on purpose.
ON_ONE_POLICY = settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)

HERE = Replicas.on("here", "here")
AFTER = {
    "scale-out": HERE.plus("there"),
    "scale-in": HERE.plus("here", -1),
    "migration": HERE.plus("there").plus("here", -1),
}


@st.composite
def asked(draw):
    """Requests of different operators, in order of priority."""
    operators = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=5))
    return prioritised(
        [
            Request(
                Change(name, HERE, AFTER[draw(st.sampled_from(sorted(AFTER)))]),
                draw(st.sampled_from([0.0, 0.3, 1.0])),
                f"operator manager of {name}",
                urgent=draw(st.booleans()),
            )
            for name in operators
        ]
    )


periods = st.lists(st.tuples(asked(), st.none() | st.floats(0, 500), st.integers(1, 30)), min_size=1, max_size=6)


def histories():
    """What is asked every minute, and what is seen then."""
    return periods.map(
        lambda drawn: [(requests, GrantSituation(60.0 * i, ms, count)) for i, (requests, ms, count) in enumerate(drawn)]
    )


class GrantingContract:
    """Give a fixture `granting`."""

    def played(self, granting, history, memory=None):
        memory, found = granting.begin() if memory is None else memory, []
        for requests, seen in history:
            granted, memory = granting.grant(requests, seen, memory)
            found.append(granted)
        return found, memory

    @ON_ONE_POLICY
    @given(history=histories())
    def test_every_request_is_granted_or_refused_with_a_reason_and_nothing_is_invented(self, granting, history):
        for (requests, _), granted in zip(history, self.played(granting, history)[0], strict=True):
            refused = [refusal.request for refusal in granted.refusals]
            assert sorted(map(str, requests)) == sorted(map(str, [*granted.requests, *refused]))
            assert all(refusal.by and refusal.reason for refusal in granted.refusals)

    @ON_ONE_POLICY
    @given(history=histories())
    def test_what_is_granted_keeps_its_order(self, granting, history):
        for (requests, _), granted in zip(history, self.played(granting, history)[0], strict=True):
            assert list(granted.requests) == [request for request in requests if request in granted.requests]

    @ON_ONE_POLICY
    @given(history=histories())
    def test_the_same_history_gets_the_same_answers(self, granting, history):
        assert self.played(granting, history) == self.played(replace(granting), history)

    @ON_ONE_POLICY
    @given(history=histories(), at=st.integers(0, 5))
    def test_it_goes_on_from_what_was_saved_as_if_nothing_had_happened(self, granting, history, at):
        _, memory = self.played(granting, history[:at])
        restored = granting.loaded(json.loads(json.dumps(granting.saved(memory), allow_nan=False)))
        for requests, seen in history[at:]:
            granted, memory = granting.grant(requests, seen, memory)
            same, restored = granting.grant(requests, seen, restored)
            assert granted == same

    @ON_ONE_POLICY
    @given(requests=asked(), odd=st.sampled_from([nan, inf, -inf, -1.0]))
    def test_a_response_time_that_is_no_number_is_one_that_is_not_known(self, granting, requests, odd):
        histories = [[(requests, GrantSituation(60.0 * i, response, 5)) for i in range(4)] for response in (None, odd)]
        unknown, no_number = (self.played(granting, history) for history in histories)
        assert unknown == no_number
