"""Baseline policy that never changes anything."""

from dataclasses import dataclass
from typing import ClassVar

from rheostat.policies.contract.policy import Forgetful, Proposal, hold
from rheostat.policies.contract.policy_views import OperatorView


@dataclass(frozen=True, slots=True)
class Hold(Forgetful):
    """Doing nothing is a policy, too, and the one every other is compared with."""

    name: ClassVar[str] = "hold"

    def decide(self, view: OperatorView, memory: None) -> tuple[Proposal, None]:
        """As many as there are."""
        return hold(view, "this policy never changes anything"), memory
