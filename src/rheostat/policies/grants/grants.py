"""Granting policies, the last step of an application manager: choice among requests without conflict [EDF 7].

A granting policy sees all requests in order of priority. Guards are granting policies around another one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar

from rheostat.model.graph.reconfiguration import ChangeKind
from rheostat.policies.contract.policy import WithoutMemory
from rheostat.policies.contract.policy_views import Plain, known
from rheostat.policies.contract.requests import Refusal, Request

Memory = TypeVar("Memory")
DRY_RUN = "a dry run: this would be done"
"""Reason given for a change that was not refused and yet does not take place."""


@dataclass(frozen=True, slots=True)
class Granted:
    """Granted requests, and refusals with their reasons."""

    requests: tuple[Request, ...] = ()
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class GrantSituation:
    """State of the application at the moment of granting."""

    at_seconds: float
    response_ms: float | None = None
    """Response time of the application; None if unknown."""
    replicas: int = 0
    """Replicas of all operators together."""

    def __post_init__(self) -> None:
        """Makes an unusable figure unknown."""
        object.__setattr__(self, "response_ms", known(self.response_ms))


class Granting(Protocol[Memory]):
    """Granting policy: decides which requests are enacted."""

    name: ClassVar[str]

    def begin(self) -> Memory:
        """The memory before the first period."""
        ...

    def grant(self, requests: Sequence[Request], seen: GrantSituation, memory: Memory) -> tuple[Granted, Memory]:
        """The granted requests, decided in the given order. Called in every period, also without requests."""
        ...

    def saved(self, memory: Memory) -> Plain:
        """The memory as plain data."""
        ...

    def loaded(self, plain: Any) -> Memory:
        """The memory from plain data."""
        ...


@dataclass(frozen=True, slots=True)
class GrantAll(WithoutMemory):
    """Grants every request without conflict: EDF without the token bucket, and E2DF."""

    name: ClassVar[str] = "all"

    def grant(self, requests: Sequence[Request], seen: GrantSituation, memory: None) -> tuple[Granted, None]:  # noqa: ARG002
        """Grants all requests."""
        return Granted(tuple(requests)), memory


@dataclass(frozen=True, slots=True)
class DryRun:
    """Dry run: refuses every request that another granting policy would grant, and reports it."""

    name: ClassVar[str] = "dry-run"

    granting: Granting[Any] = field(default_factory=GrantAll)

    def begin(self) -> Any:
        """The memory of the other policy."""
        return self.granting.begin()

    def grant(self, requests: Sequence[Request], seen: GrantSituation, memory: Any) -> tuple[Granted, Any]:
        """No requests; those that the other policy would grant are refusals."""
        granted, memory = self.granting.grant(requests, seen, memory)
        refused = tuple(Refusal(request, self.name, "this would be done") for request in granted.requests)
        return Granted((), (*granted.refusals, *refused)), memory

    def saved(self, memory: Any) -> Plain:
        """The memory of the other policy as plain data."""
        return self.granting.saved(memory)

    def loaded(self, plain: Any) -> Any:
        """The memory of the other policy from plain data."""
        return self.granting.loaded(plain)


@dataclass(frozen=True, slots=True)
class Quota:
    """Upper limit on the replicas of the whole application, for requests of any manager."""

    name: ClassVar[str] = "quota"

    replicas: int = 100
    """Greatest number of replicas, all operators together."""
    granting: Granting[Any] = field(default_factory=GrantAll)

    def __post_init__(self) -> None:
        """Rejects a quota below one replica."""
        if self.replicas < 1:
            raise ValueError(f"a quota needs replicas >= 1, got {self.replicas}")

    def begin(self) -> Any:
        """The memory of the other policy."""
        return self.granting.begin()

    def grant(self, requests: Sequence[Request], seen: GrantSituation, memory: Any) -> tuple[Granted, Any]:
        """Passes fitting requests on to the other policy. Room freed by a scale-in counts only when it is free."""
        used, fitting, refused = seen.replicas, [], []
        for request in requests:
            grows = len(request.change.after) - len(request.change.before)
            if request.kind is ChangeKind.SCALE_OUT and used + grows > self.replicas:
                refused.append(Refusal(request, self.name, f"{used} of {self.replicas} replicas are in use"))
                continue
            used += max(0, grows)
            fitting.append(request)
        granted, memory = self.granting.grant(fitting, seen, memory)
        return Granted(granted.requests, (*refused, *granted.refusals)), memory

    def saved(self, memory: Any) -> Plain:
        """The memory of the other policy as plain data."""
        return self.granting.saved(memory)

    def loaded(self, plain: Any) -> Any:
        """The memory of the other policy from plain data."""
        return self.granting.loaded(plain)
