"""The checkpoints of a run: each is asked of the node that runs its instance, or of the stand-in of a lost node."""

from collections.abc import Iterable
from contextlib import suppress

from rheostat.errors import RuntimeFault
from rheostat.runtime.checkpoints.capabilities import StateKind
from rheostat.runtime.checkpoints.checkpoint_port import CheckpointName, Checkpoints
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.plan.physical_plan import Instance
from rheostat.runtime.reconfigure.failover import Failover
from rheostat.runtime.reconfigure.read_positions import ReadPositions
from rheostat.runtime.reconfigure.run_nodes import RunNodes


class RunCheckpoints:
    """Passes every call on to the node that has to carry it out."""

    def __init__(self, run: RunNodes, failover: Failover) -> None:
        self._run, self._failover = run, failover

    def offsets(self, instance: Instance) -> tuple[str, ...] | None:
        """Source offsets of an instance's last committed batch; None before its first."""
        return self._of(instance).offsets(checkpoint_name(instance))

    def state_kind(self, instance: Instance) -> StateKind | None:
        """Kind of an instance's state; None before its first batch."""
        return self._of(instance).state_kind(checkpoint_name(instance))

    def positions(self) -> ReadPositions:
        """Positions of instances from now on: each is asked once, when it is needed first."""
        return ReadPositions(self._run.blueprint, self.offsets)

    def place_ahead(self, instance: Instance, job: StateJob) -> None:
        """Copies ahead to the node of a new instance."""
        self._of(instance).place_ahead(job)

    def build(self, instance: Instance, job: StateJob) -> None:
        """Builds the checkpoint of a new instance on its node."""
        self._of(instance).build(job)

    def remove(self, instance: Instance) -> None:
        """Removes the checkpoint of an instance."""
        self._of(instance).remove([checkpoint_name(instance)])

    def discard(self, instances: Iterable[Instance]) -> None:
        """Removes checkpoints where that is possible now; `keep_only` removes the others some time later."""
        for instance in instances:
            with suppress(RuntimeFault):
                self.remove(instance)

    def keep_only(self, instances: Iterable[Instance]) -> None:
        """Removes every checkpoint but those of these instances.

        The others were left by an interrupted change, or by a state store that wrote its last snapshot in the
        background when its query had been stopped and its checkpoint removed.
        """
        kept = {checkpoint_name(instance) for instance in instances}
        for node in self._failover.present():
            with suppress(RuntimeFault):
                foreign = [name for name in node.checkpoints.names() if name not in kept]
                if foreign:
                    node.checkpoints.remove(foreign)

    def _of(self, instance: Instance) -> Checkpoints:
        return self._failover.node_of(instance).checkpoints


def checkpoint_name(instance: Instance) -> CheckpointName:
    """The name of the checkpoint of an instance."""
    return CheckpointName(instance.node, instance.name, str(instance.number))
