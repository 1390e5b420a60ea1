"""The plan that holds, as the journal of a run tells."""

from dataclasses import dataclass, replace
from typing import Self

from rheostat.control.loop.migration import Event
from rheostat.control.loop.ports import Entry, JournalReader
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan, retired_instances


@dataclass(frozen=True, slots=True)
class RecordedPlan:
    """Everything that a controller takes over from the journal."""

    plan: PhysicalPlan | None = None
    """None before the launch."""
    replaced: tuple[Instance, ...] = ()
    """Instances that the last change has replaced, if that change was not finished."""
    changes: int = 0
    """Number of the last change that was begun."""
    counted: int = 0
    """Highest number that an instance was given, also by changes that were rolled back."""
    paused_seconds: float = 0.0

    @classmethod
    def of(cls, journal: JournalReader) -> Self:
        """Reads the whole journal."""
        found = cls()
        for _, entry in journal.read():
            if entry.kind in ("launch", "change"):
                found = found._after(entry)
        return found

    def _after(self, entry: Entry) -> Self:
        facts = entry.facts
        plan, replaced, changes = self.plan, self.replaced, self.changes
        if "plan" in facts:
            plan = PhysicalPlan.from_dict(facts["plan"])  # type: ignore[arg-type]
            replaced = retired_instances(self.plan, plan) if self.plan is not None else ()
        if entry.kind == "change":
            changes = max(changes, int(facts["change"]))  # type: ignore[arg-type]
            if facts["event"] == Event.RESUMED.value:
                replaced = ()
        return replace(
            self,
            plan=plan,
            replaced=replaced,
            changes=changes,
            counted=max(self.counted, int(facts.get("counted", 0)), plan.counted if plan else 0),  # type: ignore[arg-type]
            paused_seconds=self.paused_seconds + float(facts.get("paused_seconds", 0.0)),  # type: ignore[arg-type]
        )
