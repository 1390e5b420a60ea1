"""Holds sources back whose consumers lag too far.

Readers of channels look at their own outlets before they plan a batch. A source is the user's and may be anything that
Spark can read, so it cannot be asked to wait: its query is stopped between two batches and started again when half of
what waited has been read. What it would have brought meanwhile waits where it comes from.
"""

from rheostat.model.graph.application import Kind
from rheostat.runtime.channels.log.consumers import should_wait
from rheostat.runtime.channels.log.disk_log import DiskLog
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan
from rheostat.runtime.reconfigure.instance_ops import Crew

GO_ON_BELOW = 0.5
"""Share of the limit below which a source goes on: at the limit itself it would stop and go at every look."""


class SourceThrottle:
    """Which sources are held back now."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self.held: set[str] = set()
        """Names of their instances."""

    def forget(self) -> None:
        """Everything was started anew."""
        self.held.clear()

    def look(self, plan: PhysicalPlan) -> None:
        """Stops and starts what has to be."""
        limit = self._crew.blueprint.settings.max_lag_rows
        if not limit:
            return
        operators = self._crew.blueprint.application.by_name
        for instance in plan.instances:
            if operators[instance.head].kind is not Kind.SOURCE:
                continue
            if instance.name in self.held:
                if not self._must_wait(instance, int(GO_ON_BELOW * limit)):
                    self.held.discard(instance.name)
                    self._crew.start([instance])
            elif self._must_wait(instance, limit):
                self.held.add(instance.name)
                self._crew.stop([instance])

    def _must_wait(self, instance: Instance, rows: int) -> bool:
        """By the rule that readers follow themselves, which cannot end in a deadlock over event time."""
        outputs = self._crew.blueprint.outputs_of(instance)
        return any(should_wait(DiskLog(channel), rows, instance.producer) for channel in outputs)
