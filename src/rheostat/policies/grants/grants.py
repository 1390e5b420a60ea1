"""Granting policies, the last step of an application manager: choice among requests without conflict [EDF 7].

A granting policy sees all requests in order of priority. Guards are granting policies around another one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar

from rheostat.model.graph.reconfiguration import ChangeKind
from rheostat.policies.contract.policy import Forgetful
from rheostat.policies.contract.policy_views import Plain, known
from rheostat.policies.contract.requests import Refusal, Request

Memory = TypeVar("Memory")
DRY_RUN = "a dry run: this would be done"
"""Reason given for a change that was not refused and yet does not take place."""


@dataclass(frozen=True, slots=True)
class Granted:
    """What may be done, and what may not, by whom and why."""

    requests: tuple[Request, ...] = ()
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class GrantSituation:
    """What an application manager sees of its application when it grants."""

    at_seconds: float
    response_ms: float | None = None
    """None: not known."""
    replicas: int = 0
    """Of all operators together."""

    def __post_init__(self) -> None:
        """Takes an unusable figure for unknown."""
        object.__setattr__(self, "response_ms", known(self.response_ms))


class Granting(Protocol[Memory]):
    """Decides which requests are enacted."""

    name: ClassVar[str]

    def begin(self) -> Memory:
        """What is remembered before anything was seen."""
        ...

    def grant(self, requests: Sequence[Request], seen: GrantSituation, memory: Memory) -> tuple[Granted, Memory]:
        """Goes through the requests in their order. It is called in every period, also with none."""
        ...

    def saved(self, memory: Memory) -> Plain:
        """What is remembered, as plain data."""
        ...

    def loaded(self, plain: Any) -> Memory:
        """What was saved."""
        ...


@dataclass(frozen=True, slots=True)
class GrantAll(Forgetful):
    """Everything that is in no conflict: EDF without the token bucket, and E2DF."""

    name: ClassVar[str] = "all"

    def grant(self, requests: Sequence[Request], seen: GrantSituation, memory: None) -> tuple[Granted, None]:  # noqa: ARG002
        """All of them."""
        return Granted(tuple(requests)), memory


@dataclass(frozen=True, slots=True)
class DryRun:
    """Recommends and does nothing: whatever another would grant is told and refused."""

    name: ClassVar[str] = "dry-run"

    granting: Granting[Any] = field(default_factory=GrantAll)

    def begin(self) -> Any:
        """What the other remembers."""
        return self.granting.begin()

    def grant(self, requests: Sequence[Request], seen: GrantSituation, memory: Any) -> tuple[Granted, Any]:
        """Nothing, and what it would have been."""
        granted, memory = self.granting.grant(requests, seen, memory)
        refused = tuple(Refusal(request, self.name, "this would be done") for request in granted.requests)
        return Granted((), (*granted.refusals, *refused)), memory

    def saved(self, memory: Any) -> Plain:
        """What the other remembers."""
        return self.granting.saved(memory)

    def loaded(self, plain: Any) -> Any:
        """What was saved."""
        return self.granting.loaded(plain)


@dataclass(frozen=True, slots=True)
class Quota:
    """Upper limit on the replicas of the whole application, for requests of any manager."""

    name: ClassVar[str] = "quota"

    replicas: int = 100
    """All operators together."""
    granting: Granting[Any] = field(default_factory=GrantAll)

    def __post_init__(self) -> None:
        """Refuses a quota nothing can run in."""
        if self.replicas < 1:
            raise ValueError(f"a quota needs replicas >= 1, got {self.replicas}")

    def begin(self) -> Any:
        """What the other remembers."""
        return self.granting.begin()

    def grant(self, requests: Sequence[Request], seen: GrantSituation, memory: Any) -> tuple[Granted, Any]:
        """What fits goes on to the other. What a scale-in would free counts only when it is free."""
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
        """What the other remembers."""
        return self.granting.saved(memory)

    def loaded(self, plain: Any) -> Any:
        """What was saved."""
        return self.granting.loaded(plain)
