"""Memory of one operator's policy in a replay: every memory that the manager may have had at that moment.

The journal holds the memory of a learning manager only now and then. Two events change it in between: a manager that is
started again on another node goes on with the memory that was journaled last, and a manager on an agent keeps its own
memory when another controller takes the run over. So a replay follows all memories that agree with the journal so far.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from rheostat.policies.contract.policy import OperatorPolicy, Proposal
from rheostat.policies.contract.policy_views import OperatorView


@dataclass(slots=True)
class ReplayedMemory:
    """The possible memories of one manager, the likeliest first."""

    policy: OperatorPolicy[Any]
    restarts: bool = False
    """Whether the manager journals its memory, and may be started again with it."""
    possible: dict[str, Any] = field(default_factory=dict)
    """By their saved form: memories with the same form decide alike."""
    journaled: Any = None
    """The memory that was journaled last; None before."""

    def add(self, memory: Any) -> None:
        """Adds a memory that the manager may have."""
        self.possible.setdefault(_form(self.policy, memory), memory)

    def take(self, journaled: Any) -> None:
        """Takes a memory that was journaled: all others were not the manager's."""
        self.journaled = self.policy.loaded(journaled)
        form = _form(self.policy, self.journaled)
        self.possible = {form: self.possible.get(form, self.journaled)}

    def decide(self, view: OperatorView, then: Proposal) -> Proposal:
        """The proposal that was journaled if any possible memory gives it, else that of the likeliest memory."""
        if self.restarts:
            self.add(self.policy.begin() if self.journaled is None else self.journaled)
        if not self.possible:
            self.add(self.policy.begin())
        decided = [self.policy.decide(view, memory) for memory in self.possible.values()]
        agreeing = [memory for proposal, memory in decided if proposal == then]
        found = then if agreeing else decided[0][0]
        self.possible = {}
        for memory in agreeing or [decided[0][1]]:
            self.add(memory)
        return found


def _form(policy: OperatorPolicy[Any], memory: Any) -> str:
    return json.dumps(policy.saved(memory), sort_keys=True)
