"""Priorities, conflicts and who may go ahead."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contracts.granting import GrantingContract

from rheostat.model.graph.deployment import Replicas
from rheostat.model.graph.reconfiguration import Change, ChangeKind
from rheostat.policies.contract.requests import Refusal, Request, prioritised, without_conflicts
from rheostat.policies.grants.grants import DryRun, GrantAll, GrantSituation, Quota
from rheostat.policies.grants.token_bucket import Bucket, Token, TokenBucket


def scale_out(operator="count", node="n1", score=0.5):
    return Request(Change(operator, Replicas.on("n0"), Replicas.on("n0", node)), score, operator)


def scale_in(operator="count", score=0.5):
    return Request(Change(operator, Replicas.on("n0", "n1"), Replicas.on("n0")), score, operator)


def migration(operator="count", node="n1", score=0.5):
    return Request(Change(operator, Replicas.on("n0"), Replicas.on(node)), score, operator)


def test_a_request_is_what_its_change_is():
    assert [r.kind for r in (scale_out(), scale_in(), migration())] == [
        ChangeKind.SCALE_OUT,
        ChangeKind.SCALE_IN,
        ChangeKind.MIGRATION,
    ]


@pytest.mark.parametrize("request_", [migration(), replace(migration(), urgent=True, placed_together=True)])
def test_requests_and_refusals_survive_the_journal(request_):
    refusal = Refusal(request_, "quota", "no room")
    assert Refusal.from_plain(json.loads(json.dumps(refusal.to_plain()))) == refusal


def test_the_greatest_score_comes_first_and_of_equals_who_lacks_resources():
    low, out, move, shrink = scale_out("a", score=0.1), scale_out("d"), migration("c"), scale_in("b")
    assert prioritised([low, shrink, move, out]) == [out, move, shrink, low]


def test_what_is_urgent_comes_before_everything():
    urgent = replace(migration("z", score=0.1), urgent=True)
    assert prioritised([scale_out("a", score=1.0), urgent])[0] == urgent


def test_of_two_that_want_the_same_node_the_lower_score_goes():
    first, second = scale_out("a", "n1", 0.3), migration("b", "n1", 0.9)
    kept, refused = without_conflicts([first, second])
    assert kept == [second]
    assert [(r.request, r.by) for r in refused] == [(first, "conflicts")]
    assert "same node" in refused[0].reason


def test_who_has_placed_several_together_may_have_the_same_node_for_them():
    first, second = (replace(migration(name, "n1", 0.9), placed_together=True) for name in ("a", "b"))
    kept, refused = without_conflicts([first, second, scale_out("c", "n1", 0.3)])
    assert kept == [first, second]
    assert [r.request.change.operator for r in refused] == ["c"], "others have not been asked whether they fit"


def test_two_changes_of_one_operator_conflict():
    kept, refused = without_conflicts([scale_in("a", 0.3), migration("a", "n5", 0.4)])
    assert [request.kind for request in kept] == [ChangeKind.MIGRATION]
    assert "same operator" in refused[0].reason


def test_leaving_a_node_conflicts_with_nobody():
    kept, refused = without_conflicts([scale_in("a"), scale_in("b"), scale_out("c", "n1")])
    assert len(kept) == 3
    assert not refused


requests = st.lists(
    st.builds(
        lambda make, operator, node, score: (
            make(operator, node, score) if make is not scale_in else make(operator, score)
        ),
        st.sampled_from([scale_out, scale_in, migration]),
        st.sampled_from("abcd"),
        st.sampled_from(["n1", "n2", "n3"]),
        st.sampled_from([0.0, 0.5, 1.0]),
    ),
    max_size=8,
)


@given(requests)
def test_what_is_kept_is_free_of_conflicts_and_nothing_disappears(drawn):
    kept, refused = without_conflicts(drawn)
    targets = [node for request in kept for node in request.change.added]
    operators = [request.change.operator for request in kept]
    assert len(targets) == len(set(targets))
    assert len(operators) == len(set(operators))
    assert sorted(map(str, drawn)) == sorted([str(r) for r in kept] + [str(r.request) for r in refused])
    for refusal in refused:
        assert any(other.score >= refusal.request.score for other in kept)


class TestTokenBucket:
    """EDF 7: slow earns H, fast earns L, in between earns nothing."""

    bucket = TokenBucket(capacity=2, period_seconds=60, low_ms=100, high_ms=200)

    def after(self, *responses):
        """A bucket looked at once per period, with these response times."""
        held = self.bucket.begin()
        held = self.bucket.refilled(held, GrantSituation(0.0, None))
        for number, response in enumerate(responses, start=1):
            held = self.bucket.refilled(held, GrantSituation(60.0 * number, response))
        return held.token, held.count

    def test_slow_earns_h_and_fast_earns_l(self):
        assert self.after(201) == (Token.HIGH, 1)
        assert self.after(99) == (Token.LOW, 1)

    @pytest.mark.parametrize("response", [100, 150, 200, None])
    def test_in_between_or_unknown_earns_nothing(self, response):
        assert self.after(response) == (None, 0)

    def test_it_holds_no_more_than_its_capacity(self):
        assert self.after(300, 300, 300) == (Token.HIGH, 2)

    def test_one_kind_pops_the_other(self):
        assert self.after(300, 300, 50) == (Token.LOW, 1)

    def test_tokens_stay_while_nothing_comes(self):
        assert self.after(300, 150, None, 150) == (Token.HIGH, 1)

    def test_a_token_pays_once_and_only_for_its_kind(self):
        full = Bucket(Token.HIGH, 1, 1e9)
        requests = [scale_in("a"), scale_out("b"), migration("c", "n2")]
        granted, rest = self.bucket.grant(requests, GrantSituation(0.0, 300), full)
        assert [request.change.operator for request in granted.requests] == ["b"]
        assert [refusal.request.change.operator for refusal in granted.refusals] == ["a", "c"]
        assert "takes an L-token, the bucket holds 1 H-tokens" in granted.refusals[0].reason
        assert "the bucket is empty; the response time is 300 ms" in granted.refusals[1].reason
        assert rest.count == 0

    def test_what_is_urgent_needs_no_token(self):
        lost = replace(migration(), urgent=True)
        granted, rest = self.bucket.grant([lost, scale_out("b", "n2")], GrantSituation(0.0, 150), Bucket())
        assert granted.requests == (lost,)
        assert rest.count == 0

    def test_a_migration_is_paid_with_h_too(self):
        granted, _ = self.bucket.grant([migration()], GrantSituation(0.0), Bucket(Token.HIGH, 1, 1e9))
        assert granted.requests

    def test_however_long_nobody_looked_one_token_comes(self):
        held = self.bucket.refilled(Bucket(due_seconds=60.0), GrantSituation(6000.0, 300))
        assert (held.count, held.due_seconds) == (1, 6060.0)

    @given(st.lists(st.tuples(st.floats(0, 500), st.none() | st.floats(0, 500), requests), max_size=20))
    def test_over_any_time_it_pays_for_at_most_one_change_per_period(self, looks):
        held, paid, now = self.bucket.begin(), 0, 0.0
        for later, response, wanted in looks:
            now += later
            granted, held = self.bucket.grant(wanted, GrantSituation(now, response), held)
            paid += len(granted.requests)
            assert 0 <= held.count <= self.bucket.capacity
            assert self.bucket.loaded(json.loads(json.dumps(self.bucket.saved(held)))) == held
        assert paid <= now / self.bucket.period_seconds + 1

    @pytest.mark.parametrize(
        "wrong", [{"capacity": 0}, {"period_seconds": 0.0}, {"low_ms": 300.0}, {"low_ms": -1.0}, {"high_ms": 100.0}]
    )
    def test_a_bucket_that_cannot_work_is_refused(self, wrong):
        with pytest.raises(ValueError, match="need"):
            TokenBucket(**wrong)


def test_all_grants_all():
    granted, _ = GrantAll().grant([scale_out(), scale_in("b")], GrantSituation(0.0), None)
    assert len(granted.requests) == 2


def test_a_dry_run_tells_and_does_nothing():
    granted, _ = DryRun().grant([scale_out()], GrantSituation(0.0), None)
    assert not granted.requests
    assert [(r.by, r.reason) for r in granted.refusals] == [("dry-run", "this would be done")]


def test_a_quota_bounds_all_operators_together():
    wanted = [scale_out("a"), scale_out("b", "n2"), scale_in("c"), migration("d", "n3")]
    granted, _ = Quota(11).grant(wanted, GrantSituation(0.0, replicas=10), None)
    assert [request.change.operator for request in granted.requests] == ["a", "c", "d"]
    assert granted.refusals[0].reason == "11 of 11 replicas are in use"


def test_guards_hand_on_what_the_one_inside_remembers():
    guarded = Quota(5, DryRun(TokenBucket()))
    held = Bucket(Token.LOW, 1, 7.0)
    assert guarded.begin() == Bucket()
    assert guarded.loaded(guarded.saved(held)) == held
    granted, rest = guarded.grant([scale_in()], GrantSituation(0.0, replicas=2), held)
    assert not granted.requests
    assert rest.count == 0


class TestAllContract(GrantingContract):
    @pytest.fixture
    def granting(self):
        return GrantAll()


class TestTokenBucketContract(GrantingContract):
    @pytest.fixture
    def granting(self):
        return TokenBucket()


class TestGuardedContract(GrantingContract):
    @pytest.fixture
    def granting(self):
        return Quota(12, TokenBucket(capacity=2))


class TestDryRunContract(GrantingContract):
    @pytest.fixture
    def granting(self):
        return DryRun(Quota(12, TokenBucket()))
