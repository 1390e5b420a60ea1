"""Errors of channels, besides a producer being fenced off (`rheostat.errors.Fenced`)."""

from rheostat.errors import RuntimeFault


class Gone(RuntimeFault):
    """A consumer asks for manifests that were cleaned away: its offset is older than what it once committed."""

    def __init__(self, channel: str, place: str) -> None:
        super().__init__(channel, place)
        self.channel, self.place = channel, place

    def __str__(self) -> str:
        return f"channel {self.channel} no longer holds {self.place}: it was consumed and cleaned"


class NoChannel(RuntimeFault):
    """There is no channel at an address."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address

    def __str__(self) -> str:
        return f"there is no channel at {self.address}"


class SegmentGone(RuntimeFault):
    """A batch names a segment that was cleaned away as an orphan: the batch took longer than the grace."""

    def __init__(self, segment: str, batch: int) -> None:
        super().__init__(segment, batch)
        self.segment, self.batch = segment, batch

    def __str__(self) -> str:
        return f"segment {self.segment} was cleaned away before batch {self.batch} ended"


class WrongGroups(RuntimeFault):
    """An offset covers other key groups than the instance owns: a checkpoint was started with the wrong ownership."""

    def __init__(self, channel: str, owned: str, covered: str) -> None:
        super().__init__(channel, owned, covered)
        self.channel, self.owned, self.covered = channel, owned, covered

    def __str__(self) -> str:
        return f"channel {self.channel}: the instance owns key groups {self.owned}, its offset covers {self.covered}"
