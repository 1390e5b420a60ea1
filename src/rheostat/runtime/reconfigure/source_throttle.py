"""Throttle of the sources whose consumers lag too far.

Readers of channels check their own output channels before they plan a batch. A source is the user's and may be anything
that Spark can read, so it cannot be asked to wait: its query is stopped between two batches and started again when half
of the waiting rows have been read. New rows wait where the source reads them.
"""

from rheostat.model.graph.application import Kind
from rheostat.runtime.plan.physical_plan import PhysicalPlan
from rheostat.runtime.reconfigure.instance_ops import InstanceOperations

GO_ON_BELOW = 0.5
"""Share of the limit below which a source goes on: at the limit itself it would stop and start at every look."""


class SourceThrottle:
    """Stops sources that are too far ahead, and starts them again."""

    def __init__(self, operations: InstanceOperations) -> None:
        self._operations = operations
        self.held: set[str] = set()
        """Names of their instances."""

    def forget(self) -> None:
        """Forgets which sources were stopped: all instances were started anew."""
        self.held.clear()

    def look(self, plan: PhysicalPlan) -> None:
        """Stops and starts the sources for which it is time."""
        limit = self._operations.blueprint.settings.max_lag_rows
        if not limit:
            return
        operators = self._operations.blueprint.application.by_name
        for instance in plan.instances:
            if operators[instance.head].kind is not Kind.SOURCE:
                continue
            if instance.name in self.held:
                if not self._operations.channels.must_wait(instance, int(GO_ON_BELOW * limit)):
                    self.held.discard(instance.name)
                    self._operations.start([instance])
            elif self._operations.channels.must_wait(instance, limit):
                self.held.add(instance.name)
                self._operations.stop([instance])
