"""Lessons: memories of learning policies, carried from one run to another, for example from a simulation.

A lesson is an entry of a journal. Managers look there when they begin, as they do when a controller is started again;
so lessons that are written into the journal of a run before it begins teach its managers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rheostat.control.loop.ports import Entry, EntryLog
from rheostat.control.managers.operator_manager import MEMORY, OperatorManager, manager_name
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import scaling_policies
from rheostat.model.graph.application import Application


def lessons(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Manager -> what it wrote down last of what it has learned."""
    return {str(entry.facts["by"]): entry for entry in entries if entry.kind == MEMORY}


def teach(journal: EntryLog, learned: Iterable[Entry], now_seconds: float) -> None:
    """Managers that have learned nothing here begin with what those of their name have learned elsewhere."""
    known = lessons(entry for _, entry in journal.read(kind=MEMORY))
    for by, entry in lessons(learned).items():
        if by not in known:
            journal.append(replace(entry, at_seconds=now_seconds))


def remind(managers: Iterable[OperatorManager], learned: Iterable[Entry]) -> None:
    """Managers go on with what those of their name have learned; a later lesson replaces an earlier one."""
    named = {manager.name: manager for manager in managers}
    for entry in learned:
        facts: Mapping[str, Any] = entry.facts
        if entry.kind == MEMORY and facts["by"] in named:
            named[facts["by"]].recall(facts["policy"], facts["memory"])


def misfits(learned: Iterable[Entry], settings: ControlSettings, application: Application) -> list[str]:
    """Reasons why managers with these settings cannot use the lessons: one line for each such manager."""
    known, found = lessons(learned), []
    for operator, policy in scaling_policies(settings, application).items():
        lesson = known.get(manager_name(operator))
        if lesson is None:
            found.append(f"nothing was learned for {operator}")
        elif lesson.facts["policy"] != policy.name:
            found.append(f"{operator}: {lesson.facts['policy']} has learned it, not {policy.name}")
        else:
            try:
                policy.loaded(lesson.facts["memory"])
            except (ValueError, TypeError, LookupError) as wrong:
                found.append(f"{operator}: {wrong}")
    return found
