"""Proofs from a journal: every decision came to an end, and no node was released with replicas on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rheostat.control.history.journal import MemoryJournal
from rheostat.control.history.node_story import UNDER_WAY, node_stories
from rheostat.control.loop.ports import NODE_JOINED, NODE_LEFT, Entry
from rheostat.control.managers.decisions import DECISION, EFFECT, Decision
from rheostat.control.managers.planned_manager import PLAN, changes_something
from rheostat.runtime.plan.physical_plan import PhysicalPlan


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of the decisions of a run."""

    made: int
    """With those that changed nothing."""
    outcomes: Mapping[str, int]
    """How many changes were done, rolled back and refused; a node that did not come or stays is one rolled back."""
    unfinished: int
    """Decisions to change something that nothing is told of."""

    @property
    def wanted(self) -> int:
        """How many were to change something."""
        return sum(self.outcomes.values()) + self.unfinished


def decided(entries: Sequence[Entry]) -> Decided:
    """Goes through a journal: a decision to change something is followed by its effect before the next decision."""
    made = unfinished = 0
    outcomes = {"done": 0, "rolled back": 0, "refused": 0}
    open_ = False
    for entry in entries:
        if entry.kind in {DECISION, PLAN}:
            unfinished += open_
            made += 1
            open_ = _changes(entry)
        elif entry.kind == EFFECT:
            outcomes[str(entry.facts["outcome"])] += 1
            open_ = False
    about_nodes = [story.result() for story in node_stories(_journal(entries))]
    for result in about_nodes:
        if result is not None and result.outcome != UNDER_WAY:
            outcomes["done" if result.outcome == "done" else "rolled back"] += 1
    unfinished += open_ + sum(result is not None and result.outcome == UNDER_WAY for result in about_nodes)
    return Decided(made + len(about_nodes), outcomes, unfinished)


def _journal(entries: Sequence[Entry]) -> MemoryJournal:
    journal = MemoryJournal()
    for entry in entries:
        journal.append(entry)
    return journal


def _changes(entry: Entry) -> bool:
    """Whether a decision was to change anything."""
    if entry.kind == PLAN:
        return changes_something(entry.facts)
    return bool(Decision.from_facts(entry.facts).change)


@dataclass(frozen=True, slots=True)
class Renting:
    """Which nodes there were, and for how long."""

    started: int
    stopped: int
    most: int
    node_minutes: float
    released_with_replicas: tuple[str, ...]
    """Nodes that were let go while the plan that held had replicas on them: there must be none."""


def renting(first: Sequence[str], entries: Sequence[Entry], from_seconds: float, to_seconds: float) -> Renting:
    """Goes through a journal that began with some nodes; times are seconds since the epoch."""
    up = dict.fromkeys(first, from_seconds)
    spent, started, stopped, most = 0.0, 0, 0, len(up)
    occupied: frozenset[str] = frozenset()
    wrong = []
    for entry in entries:
        facts: Mapping[str, Any] = entry.facts
        if "plan" in facts:
            occupied = frozenset(PhysicalPlan.from_dict(facts["plan"]).deployment.nodes())
        if entry.kind == NODE_JOINED:
            up[facts["name"]] = entry.at_seconds
            started += 1
            most = max(most, len(up))
        elif entry.kind == NODE_LEFT:
            spent += _within(up.pop(facts["name"]), entry.at_seconds, from_seconds, to_seconds)
            stopped += 1
            if facts["name"] in occupied:
                wrong.append(str(facts["name"]))
    spent += sum(_within(since, to_seconds, from_seconds, to_seconds) for since in up.values())
    return Renting(started, stopped, most, spent / 60, tuple(wrong))


def _within(begin: float, end: float, first: float, last: float) -> float:
    """Seconds of a time that lie in another."""
    return max(0.0, min(end, last) - max(begin, first))
