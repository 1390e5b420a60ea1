"""A decision as a person would tell it: what was seen, proposed, refused, chosen, expected, and what came of it.

A story begins with the proposals that were made since the decision before, and goes on after the decision with its
effect and with what was measured when it had settled.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rheostat.control.application_manager import APPLICATION_PROPOSAL
from rheostat.control.decisions import DECISION, EFFECT, MEASURED, Decision
from rheostat.control.explain import explanation, is_holding
from rheostat.control.node_manager import MIGRATION
from rheostat.control.operator_manager import PROPOSAL
from rheostat.control.planned import PLAN
from rheostat.control.ports import Entry, Journal

PROPOSALS = frozenset({PROPOSAL, APPLICATION_PROPOSAL, MIGRATION})


@dataclass(slots=True)
class Story:
    """One decision, from what led to it to what came of it."""

    number: int
    """Of the decision in the journal."""
    decision: Entry
    proposals: list[Entry] = field(default_factory=list)
    effect: Entry | None = None
    measured: Entry | None = None

    @property
    def changed(self) -> bool:
        """Whether anything was to be changed."""
        return self.effect is not None

    @property
    def is_holding(self) -> bool:
        """Whether nobody wanted anything."""
        return is_holding(self.decision)

    @property
    def reason(self) -> str:
        """Why it was wanted, in a line."""
        facts: Mapping[str, Any] = self.decision.facts
        if self.decision.kind == PLAN:
            return str(facts.get("reason", "planned"))
        return "; ".join(f"{request['operator']}: {request['reason']}" for request in facts["granted"])

    def chapters(self) -> list[tuple[str, str]]:
        """Heading and text, in the order in which it happened."""
        facts: Mapping[str, Any] = self.decision.facts
        found = [("seen", _seen(facts, self.proposals))]
        for entry in self.proposals:
            if not is_holding(entry):
                found.append(("proposed", explanation(entry)))
        if self.decision.kind == PLAN:
            found.append(("chosen", explanation(self.decision)))
        else:
            decision = Decision.from_facts(facts)
            for refusal in decision.refusals:
                found.append(("refused", f"{refusal.request}, by the {refusal.by}: {refusal.reason}"))
            granted = "; ".join(str(request) for request in decision.granted)
            found.append(("chosen", granted or "nothing: everything stays as it is"))
        if self.effect is not None:
            if expected := _expected(self.effect.facts):
                found.append(("expected", expected))
            found.append(("done" if self.effect.facts["outcome"] == "done" else "undone", explanation(self.effect)))
        if self.measured is not None:
            found.append(("measured", explanation(self.measured)))
        elif self.effect is not None and self.effect.facts["outcome"] == "done":
            found.append(("measured", "nothing yet: it has not settled, or the run ended before"))
        return found


def stories(journal: Journal) -> list[Story]:
    """Every decision of a journal, in order."""
    found: list[Story] = []
    proposals: list[Entry] = []
    changed: Story | None = None
    for number, entry in journal.read():
        if entry.kind in PROPOSALS:
            proposals.append(entry)
        elif entry.kind in {DECISION, PLAN}:
            found.append(Story(number, entry, proposals))
            proposals = []
        elif entry.kind == EFFECT and found:
            changed = found[-1]
            changed.effect = entry
        elif entry.kind == MEASURED and changed is not None:
            # Told as soon as the change has settled: decisions to hold lie between.
            changed.measured = entry
    return found


def _seen(facts: Mapping[str, Any], proposals: list[Entry]) -> str:
    """The figures the decision was based on."""
    if "seen" in facts:
        response, replicas = facts["seen"]["response_ms"], facts["seen"]["replicas"]
        told = "a response time that is not known" if response is None else f"a response time of {response:.0f} ms"
        parts = [f"{told} with {replicas} replicas"]
    else:
        parts = [f"{name} brings {rate:.1f} tuples/s" for name, rate in facts.get("sources_tps", {}).items()]
    for entry in proposals:
        view: Mapping[str, Any] = entry.facts.get("view", {})  # type: ignore[assignment]
        if entry.kind == PROPOSAL and view.get("utilizations"):
            busiest = max(view["utilizations"])
            parts.append(f"{view['operator']} {busiest:.0%} busy")
    return ", ".join(parts) or "nothing that is known"


def _expected(facts: Mapping[str, Any]) -> str:
    predicted = facts["predicted"]
    parts = [f"{name} {busy:.0%} busy" for name, busy in predicted.get("utilization", {}).items()]
    if "response_ms" in predicted:
        parts.append(f"a response time of {predicted['response_ms']:.0f} ms")
    return ", ".join(parts)
