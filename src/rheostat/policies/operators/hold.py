"""Baseline policy that never changes anything."""

from dataclasses import dataclass
from typing import ClassVar

from rheostat.policies.contract.policy import Proposal, WithoutMemory, hold
from rheostat.policies.contract.policy_views import OperatorView


@dataclass(frozen=True, slots=True)
class Hold(WithoutMemory):
    """Changes nothing; every other policy is compared with it."""

    name: ClassVar[str] = "hold"

    def decide(self, view: OperatorView, memory: None) -> tuple[Proposal, None]:
        """Proposes the present number of replicas."""
        return hold(view, "this policy never changes anything"), memory
