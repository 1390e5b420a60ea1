"""Recovery of decisions and memories after a controller was killed."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from rheostat.control.history.lessons import remind
from rheostat.control.history.node_story import NodeStory, node_stories
from rheostat.control.loop.ports import Done, Entry, EntryLog, Json, RolledBack
from rheostat.control.managers.decisions import DECISION, EFFECT, Decision, effect_facts
from rheostat.control.managers.infrastructure_manager import INFRASTRUCTURE
from rheostat.control.managers.operator_manager import MEMORY
from rheostat.control.managers.planned_manager import PLAN
from rheostat.control.managers.region_manager import NODES
from rheostat.control.setup.factory import Control
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import Reconfiguration


def recall(control: Control, journal: EntryLog) -> None:
    """Gives managers what they had learned or planned before the controller was started again."""
    remind(control.operators, (entry for _, entry in journal.read(kind=MEMORY)))
    if control.planned is not None:
        control.planned.recall(journal)


def finish_decisions(journal: EntryLog, now: Deployment, now_seconds: float) -> None:
    """Every decision ends in an effect, also one during which the controller was killed.

    The runtime has finished or undone the change by now; what runs says which.
    """
    unfinished: tuple[str, Reconfiguration] | None = None
    for _, entry in journal.read():
        if entry.kind in {DECISION, PLAN}:
            unfinished = _change_of(entry)
        elif entry.kind == EFFECT:
            unfinished = None
    if unfinished is None:
        return
    by, change = unfinished
    took_place = all(now[each.operator] == each.after for each in change.changes)
    effect = Done(0.0) if took_place else RolledBack("the controller was killed before the switch")
    journal.append(Entry(EFFECT, now_seconds, effect_facts(by, change, effect, {})))


def finish_node_decisions(journal: EntryLog, nodes: AbstractSet[str], now_seconds: float, why: str) -> None:
    """Decisions about nodes end as well, given the nodes that there are.

    One that was to be left is gone or may be used again, one that was to come is given up. Managers do not go on with
    them: they look at what is there, and ask for what they still want.
    """
    for story in node_stories(journal):
        if story.result() is not None and not story.is_over:
            journal.append(_end_of(story, nodes, now_seconds, why))


def _end_of(story: NodeStory, nodes: AbstractSet[str], now_seconds: float, why: str) -> Entry:
    by: dict[str, Json] = {"by": story.decision.facts["by"]}
    if story.leaves is None:
        missing: list[Json] = [name for name in story.started if name not in story.came]
        return Entry(NODES, now_seconds, {**by, "given_up": missing, "reason": why})
    if story.leaves in nodes:
        return Entry(INFRASTRUCTURE, now_seconds, {**by, "cancelled": story.leaves, "reason": why})
    return Entry(NODES, now_seconds, {**by, "started": [], "stopped": [story.leaves], "reason": "it was empty"})


def _change_of(entry: Entry) -> tuple[str, Reconfiguration] | None:
    """Manager and change of a decision; None if nothing was to be changed."""
    facts: Mapping[str, Any] = entry.facts
    if entry.kind == DECISION:
        change = Decision.from_facts(facts).change
    elif "wanted" in facts:
        change = Reconfiguration.between(Deployment.of(facts["current"]), Deployment.of(facts["wanted"]))
    else:
        return None
    return (facts["by"], change) if change else None
