"""The value that describes a new checkpoint: from which old ones it is built, and how."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StateJob:
    """One new checkpoint from old ones.

    `copy` takes one checkpoint as it is, `repartition` copies it and gives it another number of partitions, `rebuild`
    takes the rows of some key groups of several, `offsets` takes only how far the sources were read.
    """

    way: str
    target: str
    parents: tuple[tuple[str, str], ...]
    """Checkpoint and key groups of every old instance."""
    groups: str
    """Key groups of the new instance."""
    partitions: int
    key: tuple[str, ...]
    key_groups: int
    """G."""
    offsets: tuple[str, ...] = ()
    """Source offsets of the new checkpoint, if they are not the parent's."""
    source: str = ""
    """Checkpoint whose source the new instance goes on with: some sources of Spark keep notes of their own there."""

    def __post_init__(self) -> None:
        """Refuses a way that does not exist, and a job without a parent."""
        if self.way not in {"copy", "repartition", "rebuild", "offsets"}:
            raise ValueError(f"a state job copies, repartitions, rebuilds or takes offsets, got {self.way!r}")
        if not self.parents:
            raise ValueError(f"the state job for {self.target} has no parent checkpoint")

    @property
    def can_begin_early(self) -> bool:
        """Whether part of it can be done while the old instance still runs."""
        return self.way in {"copy", "repartition"}
