"""Stories of decisions about replicas: seen, proposed, refused, chosen, expected, done, measured.

A story begins with the proposals that were made since the decision before, and goes on after the decision with its
effect and with what was measured when it had settled.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from rheostat.control.history.explanation import explanation, is_holding
from rheostat.control.loop.ports import Entry, JournalReader
from rheostat.control.managers.application_manager import APPLICATION_PROPOSAL
from rheostat.control.managers.decisions import BY_HAND, DECISION, EFFECT, MEASURED, Decision
from rheostat.control.managers.node_manager import MIGRATION
from rheostat.control.managers.operator_manager import PROPOSAL
from rheostat.control.managers.planned_manager import PLAN

PROPOSALS = frozenset({PROPOSAL, APPLICATION_PROPOSAL, MIGRATION})
STAYS = "nothing: everything stays as it is"
WANTED_BY_HAND = "requested by hand"


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a decision to change something."""

    change: str
    outcome: str
    paused_seconds: float | None = None
    reasons: tuple[str, ...] = ()


class TellableDecision(Protocol):
    """A decision that can be told as a story."""

    @property
    def number(self) -> int:
        """Number of the decision in the journal."""
        ...

    @property
    def decision(self) -> Entry:
        """The decision itself."""
        ...

    @property
    def is_holding(self) -> bool:
        """Whether no change was wanted."""
        ...

    def result(self) -> Result | None:
        """Result of the decision; None if nothing was to be changed."""
        ...

    def chapters(self) -> list[tuple[str, str]]:
        """Heading and text, in the order in which it happened."""
        ...


@dataclass(slots=True)
class Story:
    """One decision about replicas, from what led to it to what came of it."""

    number: int
    """Number of the decision in the journal."""
    decision: Entry
    proposals: list[Entry] = field(default_factory=list)
    effect: Entry | None = None
    measured: Entry | None = None
    overtaken: bool = False
    """Whether something else was changed before this had settled."""

    @property
    def is_holding(self) -> bool:
        """Whether no change was wanted."""
        return is_holding(self.decision)

    @property
    def reason(self) -> str:
        """Reason of the decision in one line."""
        facts: Mapping[str, Any] = self.decision.facts
        if self.decision.kind == BY_HAND:
            return WANTED_BY_HAND
        if self.decision.kind == PLAN:
            return str(facts.get("reason", "planned"))
        return "; ".join(f"{request['operator']}: {request['reason']}" for request in facts["granted"])

    def result(self) -> Result | None:
        """Result of the decision; None if nothing was to be changed."""
        if self.effect is None:
            return None
        facts: Mapping[str, Any] = self.effect.facts
        reasons = tuple(facts.get("reasons", ()))
        return Result(facts["change"], facts["outcome"], facts.get("downtime_seconds"), reasons)

    def chapters(self) -> list[tuple[str, str]]:
        """Heading and text, in the order in which it happened."""
        if self.decision.kind == BY_HAND:
            return [("chosen", f"{self.decision.facts['change']}: {WANTED_BY_HAND}"), *self._ending()]
        found = [("seen", _seen(self.decision.facts, self.proposals))]
        found += [("proposed", explanation(entry)) for entry in self.proposals if not is_holding(entry)]
        found += _planned(self.decision) if self.decision.kind == PLAN else _granted(self.decision)
        if self.effect is None:
            return found
        if expected := _expected(self.effect.facts):
            found.append(("expected", expected))
        return [*found, *self._ending(), *self._measured()]

    def _ending(self) -> list[tuple[str, str]]:
        if self.effect is None:
            return []
        return [("done" if self.effect.facts["outcome"] == "done" else "undone", explanation(self.effect))]

    def _measured(self) -> list[tuple[str, str]]:
        if self.measured is not None:
            return [("measured", explanation(self.measured))]
        if self.effect is None or self.effect.facts["outcome"] != "done":
            return []
        if self.overtaken:
            return [("measured", "nothing: something else was changed before this had settled")]
        return [("measured", "nothing yet: it has not settled, or the controller ended before")]


def stories(journal: JournalReader) -> list[Story]:
    """Every decision of a journal, in order."""
    found: list[Story] = []
    proposals: list[Entry] = []
    decided: Story | None = None
    changed: Story | None = None
    for number, entry in journal.read():
        if entry.kind in PROPOSALS:
            proposals.append(entry)
        elif entry.kind in {DECISION, PLAN}:
            decided = Story(number, entry, proposals)
            found.append(decided)
            proposals = []
        elif entry.kind == BY_HAND:
            found.append(Story(number, entry, [], entry))
        elif entry.kind == EFFECT and decided is not None:
            decided.effect = entry
            if entry.facts["outcome"] == "done":
                if changed is not None:
                    changed.overtaken = True
                changed = decided
        elif entry.kind == MEASURED and changed is not None:
            # Told as soon as the change has settled: decisions to hold lie between.
            changed.measured = entry
    return found


def _planned(plan: Entry) -> list[tuple[str, str]]:
    """The choice of a planner, and the alternative of changing nothing."""
    facts: Mapping[str, Any] = plan.facts
    chosen = ("chosen", explanation(plan))
    stays = facts.get("staying")
    if stays is None:
        return [chosen]
    if stays["broken"]:
        return [("refused", f"to stay as it is: {'; '.join(stays['broken'])}"), chosen]
    told = f"to stay as it is, with {stays['response_ms']:.0f} ms"
    if stays["objective"] is not None and facts.get("objective") is not None:
        told += f": an objective of {stays['objective']:.4f} instead of {facts['objective']:.4f}"
    return [("refused", told), chosen]


def _granted(entry: Entry) -> list[tuple[str, str]]:
    """Requests that an application manager has refused and granted."""
    decision = Decision.from_facts(entry.facts)
    found = [("refused", f"{one.request}, by the {one.by}: {one.reason}") for one in decision.refusals]
    granted = "; ".join(str(request) for request in decision.granted)
    return [*found, ("chosen", granted or STAYS)]


def _seen(facts: Mapping[str, Any], proposals: list[Entry]) -> str:
    """The figures the decision was based on."""
    parts = []
    if seen := facts.get("seen"):
        response, replicas = seen["response_ms"], seen["replicas"]
        told = "a response time that is not known" if response is None else f"a response time of {response:.0f} ms"
        parts.append(f"{told} with {replicas} replicas")
    parts += [f"{name} brings {rate:.1f} tuples/s" for name, rate in facts.get("sources_tps", {}).items()]
    parts += [f"{name} {busy:.0%} busy" for name, busy in facts.get("seen", {}).get("busy", {}).items()]
    for entry in proposals:
        view: Mapping[str, Any] = entry.facts.get("view", {})  # type: ignore[assignment]
        looked_at = [view] if entry.kind == PROPOSAL else view.get("operators", [])
        parts += [f"{one['operator']} {max(one['utilizations']):.0%} busy" for one in looked_at if one["utilizations"]]
    return ", ".join(parts) or "nothing that is known"


def _expected(facts: Mapping[str, Any]) -> str:
    predicted = facts["predicted"]
    parts = [f"{name} {busy:.0%} busy" for name, busy in predicted.get("utilization", {}).items()]
    if "response_ms" in predicted:
        parts.append(f"a response time of {predicted['response_ms']:.0f} ms")
    return ", ".join(parts)
