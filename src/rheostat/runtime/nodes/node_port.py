"""The port of a node: runs instances as queries and looks after their checkpoints."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.nodes.node_usage import Usage
from rheostat.runtime.plan.instance_spec import InstanceSpec, InstanceStatus


class NodePort(Protocol):
    """What the controller may ask of a node. Every call may be repeated."""

    name: str

    def start(self, spec: InstanceSpec) -> None:
        """Starts an instance; one that runs already is left alone."""
        ...

    def stop(self, instance: str, *, gently: bool = False) -> None:
        """Stops an instance at once; a batch it is in is left uncommitted. One that does not run is stopped already.

        Gently: between two batches, if there is such a moment soon.
        """
        ...

    def settle(self, spec: InstanceSpec) -> None:
        """Brings the last planned batch of a stopped instance to its end."""
        ...

    def statuses(self) -> Sequence[InstanceStatus]:
        """Every instance that was started here and not stopped."""
        ...

    def progress(self, instance: str, after: int = -1) -> Sequence[dict[str, Any]]:
        """The recent progress reports of an instance about batches after the given one, oldest first."""
        ...

    def usage(self) -> Usage:
        """What the node uses of its machine."""
        ...

    def round_trip_ms(self) -> float | None:
        """Time from a question to its answer; None if the node is in this process. NodeUnreachable if none comes."""
        ...

    def prepare(self, job: StateJob) -> None:
        """Does what can be done of a state job while the old instance runs."""
        ...

    def run(self, job: StateJob) -> None:
        """Does a state job."""
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

    def exchange(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Tells the managers there what they should do, and is told what they ask for."""
        ...
