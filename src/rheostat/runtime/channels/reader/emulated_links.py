"""Emulation of a wide-area network on one machine: manifests become visible later than they are published.

A manifest arrives when the link has carried everything published before it, then its own bytes, then the delay has
passed. The link of a producer is the one from its node, the part of its name after "@".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rheostat.runtime.channels.port.channel import ManifestLog
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.key_groups import Groups
from rheostat.runtime.channels.records.manifest import Manifest, Opening
from rheostat.runtime.channels.records.offset import Offset


@dataclass(frozen=True, slots=True)
class EmulatedLink:
    """The link between a producer's node and this reader."""

    delay_ms: float = 0.0
    bytes_per_second: float | None = None
    """None: as fast as the disk."""

    def __post_init__(self) -> None:
        """Rejects negative delays and bandwidths that carry nothing."""
        if self.delay_ms < 0 or (self.bytes_per_second is not None and self.bytes_per_second <= 0):
            raise ValueError(f"a delay is not negative and a bandwidth positive, got {self}")


def node_of(name: str) -> str:
    """The node a producer or consumer runs on.

    >>> node_of("parser@n1")
    'n1'
    """
    return name.rpartition("@")[2]


@dataclass
class DelayedLog:
    """A log seen through links. Time is given: call `at` before reading."""

    log: ManifestLog
    links: Mapping[str, EmulatedLink]
    """Links by node; a node that is missing is near."""
    groups: Groups
    """Key groups this reader owns: only its share of the bytes travels."""
    _now_ms: float = 0.0
    _free_ms: dict[str, float] = field(default_factory=dict)
    _arrived: dict[tuple[str, int], int] = field(default_factory=dict)
    """Slots that have arrived, by producer and epoch."""
    _travelling: dict[tuple[str, int, int], float] = field(default_factory=dict)

    @property
    def spec(self) -> ChannelSpec:
        """Description of the channel."""
        return self.log.spec

    def at(self, now_ms: float, start: Offset) -> "DelayedLog":
        """The log as seen at this time by a reader that has come to `start`: what it has seen has arrived."""
        self._now_ms = now_ms
        for cohort in start.cohorts:
            for producer, place in cohort.at.items():
                self._arrive(producer, place.epoch, place.seen - 1)
        return self

    def producers(self) -> tuple[str, ...]:
        """Every producer that was ever declared: declarations are not delayed, consumers must wait for them."""
        return self.log.producers()

    def opening(self, producer: str, epoch: int) -> Opening | None:
        """The opening of an epoch, None if it was not opened."""
        return self.log.opening(producer, epoch)

    def begin(self, producer: str, epoch: int) -> int:
        """First slot that was not cleaned away."""
        return self.log.begin(producer, epoch)

    def entry(self, producer: str, epoch: int, slot: int) -> Manifest | None:
        """The manifest in a slot, None if it has not arrived."""
        found = self.log.entry(producer, epoch, slot)
        link = self.links.get(node_of(producer))
        if found is None or link is None or slot <= self._arrived.get((producer, epoch), -1):
            return found
        key = (producer, epoch, slot)
        if key not in self._travelling:
            self._travelling[key] = self._sent_ms(producer, link, found) + link.delay_ms
        if self._travelling[key] > self._now_ms:
            return None
        self._arrive(*key)
        return found

    def _sent_ms(self, producer: str, link: EmulatedLink, manifest: Manifest) -> float:
        node = node_of(producer)
        sent = max(float(manifest.published_ms), self._free_ms.get(node, 0.0))
        if link.bytes_per_second is not None:
            sent += 1000 * manifest.bytes_for(self.groups) / link.bytes_per_second
        self._free_ms[node] = sent
        return sent

    def _arrive(self, producer: str, epoch: int, slot: int) -> None:
        self._travelling.pop((producer, epoch, slot), None)
        self._arrived[producer, epoch] = max(slot, self._arrived.get((producer, epoch), -1))
