"""Opening of channels by address: the only place that knows which implementation an address belongs to.

An address that begins with `memory:` is a channel in the memory of this process; any other is the path of a folder.
"""

from collections.abc import Sequence
from typing import Protocol

from rheostat.runtime.channels.log.disk_channel import DiskChannels
from rheostat.runtime.channels.log.memory_channel import MemoryChannels
from rheostat.runtime.channels.port.channel import Channel
from rheostat.runtime.channels.records.channel_spec import ChannelSpec

MEMORY = "memory:"


class ChannelStore(Protocol):
    """Channels of one kind, by address."""

    def at(self, address: str, spec: ChannelSpec) -> Channel:
        """The channel with this description, whether it was created or not."""
        ...

    def load(self, address: str) -> Channel:
        """The channel that was created at this address. Raises NoChannel if there is none."""
        ...

    def below(self, address: str) -> Sequence[Channel]:
        """The channels that were created one step below this address."""
        ...


_DISK, _MEMORY = DiskChannels(), MemoryChannels()


def channel_at(address: str, spec: ChannelSpec) -> Channel:
    """The channel with this description at an address, whether it was created or not."""
    return store_of(address).at(address, spec)


def open_channel(address: str) -> Channel:
    """The channel that was created at an address. Raises NoChannel if there is none."""
    return store_of(address).load(address)


def channels_below(address: str) -> Sequence[Channel]:
    """The channels that were created one step below an address."""
    return store_of(address).below(address)


def store_of(address: str) -> ChannelStore:
    """The kind of channels that an address belongs to."""
    return _MEMORY if address.startswith(MEMORY) else _DISK
