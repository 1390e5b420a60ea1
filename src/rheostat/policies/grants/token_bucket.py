"""Token bucket of EDF 7: limits changes to what the response time calls for.

A slow application earns H-tokens, which pay for scale-outs and migrations; a fast one earns L-tokens, which pay for
scale-ins; one in between earns nothing. The bucket is small and holds one kind at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar

from rheostat.model.graph.reconfiguration import ChangeKind
from rheostat.policies.contract.policy_views import Plain
from rheostat.policies.contract.requests import Refusal, Request
from rheostat.policies.grants.grants import Granted, GrantSituation


class Token(StrEnum):
    """Kinds of tokens, by the changes they pay for."""

    HIGH = "H"
    """Pays for a scale-out or a migration."""
    LOW = "L"
    """Pays for a scale-in."""


PAYS = {
    ChangeKind.SCALE_OUT: Token.HIGH,
    ChangeKind.MIGRATION: Token.HIGH,
    ChangeKind.SCALE_IN: Token.LOW,
}


@dataclass(frozen=True, slots=True)
class Bucket:
    """Contents of the bucket, and the time of the next token."""

    token: Token | None = None
    """The single kind of tokens in it."""
    count: int = 0
    due_seconds: float | None = None
    """Time of the next token; None before the first period."""

    def spent(self, kind: ChangeKind) -> "Bucket | None":
        """The bucket after paying for a change; None if the token is missing."""
        if self.count == 0 or self.token is not PAYS[kind]:
            return None
        return replace(self, count=self.count - 1)


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """Granting policy with as many grants as there are tokens of the kind."""

    name: ClassVar[str] = "token-bucket"

    capacity: int = 1
    """C_τ: greatest number of tokens."""
    period_seconds: float = 60.0
    """T_τ: at most one token per period."""
    low_ms: float = 125.0
    """τ_L: below this response time an L-token is earned."""
    high_ms: float = 225.0
    """τ_H: above this response time an H-token is earned."""

    def __post_init__(self) -> None:
        """Rejects an empty bucket and overlapping thresholds."""
        if self.capacity < 1 or not self.period_seconds > 0:
            raise ValueError(f"need capacity >= 1 and period_seconds > 0, got {self}")
        if not 0 <= self.low_ms < self.high_ms:
            raise ValueError(f"need 0 <= low_ms < high_ms, got {self}")

    def begin(self) -> Bucket:
        """An empty bucket."""
        return Bucket()

    def refilled(self, bucket: Bucket, seen: GrantSituation) -> Bucket:
        """The bucket with the token that is due, if one is and the response time calls for it.

        A token of the other kind removes all present ones; in a full bucket a new token replaces the oldest, which is
        the same. At most one comes, however long the last update is ago: nothing is known of the periods in between.
        """
        if bucket.due_seconds is None:
            return replace(bucket, due_seconds=seen.at_seconds + self.period_seconds)
        if seen.at_seconds < bucket.due_seconds:
            return bucket
        token = self._earned(seen.response_ms)
        due = bucket.due_seconds + self.period_seconds
        due = due if due > seen.at_seconds else seen.at_seconds + self.period_seconds
        if token is None:
            return replace(bucket, due_seconds=due)
        count = bucket.count if bucket.token is token else 0
        return Bucket(token, min(self.capacity, count + 1), due)

    def _earned(self, response_ms: float | None) -> Token | None:
        if response_ms is None or self.low_ms <= response_ms <= self.high_ms:
            return None
        return Token.HIGH if response_ms > self.high_ms else Token.LOW

    def grant(self, requests: Sequence[Request], seen: GrantSituation, memory: Bucket) -> tuple[Granted, Bucket]:
        """Grants requests in their order while tokens last; urgent ones need none."""
        bucket = self.refilled(memory, seen)
        granted, refused = [], []
        for request in requests:
            paid = bucket if request.urgent else bucket.spent(request.kind)
            if paid is None:
                refused.append(Refusal(request, self.name, self._why(request, bucket, seen)))
            else:
                bucket = paid
                granted.append(request)
        return Granted(tuple(granted), tuple(refused)), bucket

    def _why(self, request: Request, bucket: Bucket, seen: GrantSituation) -> str:
        held = f"holds {bucket.count} {bucket.token}-tokens" if bucket.token and bucket.count else "is empty"
        response = "not known" if seen.response_ms is None else f"{seen.response_ms:.0f} ms"
        return (
            f"a {request.kind} takes an {PAYS[request.kind]}-token, the bucket {held}; the response time is {response}"
        )

    def saved(self, memory: Bucket) -> Plain:
        """The bucket as plain data."""
        token = None if memory.token is None else memory.token.value
        return {"token": token, "count": memory.count, "due_seconds": memory.due_seconds}

    def loaded(self, plain: Any) -> Bucket:
        """The bucket from plain data."""
        token = None if plain["token"] is None else Token(plain["token"])
        return Bucket(token, plain["count"], plain["due_seconds"])
