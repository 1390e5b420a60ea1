"""The port of the checkpoints of a node: take, build, place, list and remove them where they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rheostat.runtime.checkpoints.capabilities import StateKind
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.plan.instance_spec import InstanceSpec


@dataclass(frozen=True, slots=True, order=True)
class CheckpointName:
    """The name of a checkpoint: its node, its instance, and the number of the instance."""

    node: str
    instance: str
    number: str

    def __post_init__(self) -> None:
        """Refuses names that would lead out of the directory of the checkpoints."""
        for part in (self.node, self.instance, self.number):
            if not part or part.startswith(".") or "/" in part or "\0" in part:
                raise ValueError(f"{part!r} cannot be part of the name of a checkpoint")

    @property
    def operator(self) -> str:
        """The operator at the head of the instance.

        >>> CheckpointName("n1", "count@n1", "3").operator
        'count'
        """
        return self.instance.rpartition("@")[0]


class Checkpoints(Protocol):
    """The checkpoints that a node can reach: its own, and those of other nodes on a disk they share.

    Every call may be repeated. A checkpoint of a lost node is asked of the node that stands in for it.
    """

    def names(self) -> Sequence[CheckpointName]:
        """Every checkpoint that is there, complete or not, in the order of the names."""
        ...

    def offsets(self, name: CheckpointName) -> tuple[str, ...] | None:
        """Source offsets of the last committed batch; None if there is no checkpoint or no batch in it."""
        ...

    def state_kind(self, name: CheckpointName) -> StateKind | None:
        """Kind of the state in a checkpoint; None if there is no checkpoint or no committed batch in it."""
        ...

    def take(self, spec: InstanceSpec) -> None:
        """Completes the last planned batch of a stopped instance, so that state and offsets of its checkpoint agree."""
        ...

    def place_ahead(self, job: StateJob) -> None:
        """Copies the files of a state job that will not change any more, while the old instance still runs."""
        ...

    def build(self, job: StateJob) -> None:
        """Builds the checkpoint that a job describes; it is complete when this returns."""
        ...

    def remove(self, names: Sequence[CheckpointName]) -> None:
        """Removes checkpoints; one that does not exist has been removed already."""
        ...
