"""The port of a node: runs instances as queries and looks after their checkpoints."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from rheostat.runtime.channels.hold_file import HoldOrder
from rheostat.runtime.checkpoints.checkpoint_port import Checkpoints
from rheostat.runtime.nodes.node_messages import ManagerAnswer, ManagerQuestion
from rheostat.runtime.nodes.node_usage import Usage
from rheostat.runtime.plan.instance_spec import InstanceSpec, InstanceStatus
from rheostat.runtime.query.progress_report import BatchReport


class NodePort(Protocol):
    """What the controller may ask of a node. Every call may be repeated."""

    name: str

    @property
    def checkpoints(self) -> Checkpoints:
        """The checkpoints that this node can reach."""
        ...

    def start(self, spec: InstanceSpec) -> None:
        """Starts an instance; one that runs already is left alone."""
        ...

    def stop(self, instance: str, *, gently: bool = False) -> None:
        """Stops an instance at once; a batch it is in is left uncommitted. One that does not run is stopped already.

        Gently: between two batches, if there is such a moment soon.
        """
        ...

    def hold(self, instance: str, order: HoldOrder) -> None:
        """Gives an instance an order, also before it is started; it obeys from its next batch on.

        The order survives a crash, as the protocol of a change builds on it.
        """
        ...

    def statuses(self) -> Sequence[InstanceStatus]:
        """Every instance that was started here and not stopped."""
        ...

    def progress(self, instance: str, after: int = -1) -> Sequence[BatchReport]:
        """The recent batches of an instance after the given one, oldest first."""
        ...

    def usage(self) -> Usage:
        """What the node uses of its machine."""
        ...

    def round_trip_ms(self) -> float | None:
        """Time from a question to its answer; None if the node is in this process. NodeUnreachable if none comes."""
        ...

    def quiesce(self) -> None:
        """Waits until all that was asked for before is done: a controller that is gone may have left work behind."""
        ...

    def kill(self) -> None:
        """Ends everything here abruptly."""
        ...


@runtime_checkable
class HostsManagers(Protocol):
    """A node in whose process managers can work."""

    name: str

    def exchange(self, question: ManagerQuestion) -> ManagerAnswer:
        """Gives orders to the managers there, and gets their report."""
        ...
