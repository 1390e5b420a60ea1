"""Both channels of one machine keep the contract."""

from itertools import count

import pytest
from tests.contracts.channel import ChannelContract

from rheostat.runtime.channels.channel_store import channel_at, channels_below, open_channel
from rheostat.runtime.channels.log.memory_channel import MemoryChannels
from rheostat.runtime.channels.records.channel_errors import NoChannel
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.manifest import NEVER, Manifest, ManifestKind, Opening


class TestDiskChannel(ChannelContract):
    @pytest.fixture
    def new_channel(self, tmp_path):
        numbers = count()

        def new(groups, event_time=None):
            channel = channel_at(str(tmp_path / str(next(numbers))), ChannelSpec("c", groups, event_time))
            channel.create()
            return channel

        return new


class TestMemoryChannel(ChannelContract):
    @pytest.fixture
    def new_channel(self):
        store, numbers = MemoryChannels(), count()

        def new(groups, event_time=None):
            channel = store.at(f"memory:{next(numbers)}", ChannelSpec("c", groups, event_time))
            channel.create()
            return channel

        return new


@pytest.fixture(params=["disk", "memory"])
def place(request, tmp_path):
    return str(tmp_path) if request.param == "disk" else f"memory:{tmp_path}"


def test_an_address_opens_the_channel_that_was_created_there(place):
    address, spec = f"{place}/a--b", ChannelSpec("a--b", 3, "ts", "value long")
    channel = channel_at(address, spec)
    assert not channel.exists()
    with pytest.raises(NoChannel, match="no channel at"):
        open_channel(address)
    assert list(channels_below(place)) == []
    channel.create()
    channel_at(f"{place}/never", spec)
    assert (open_channel(address).address, open_channel(address).spec) == (address, spec)
    assert [found.spec.name for found in channels_below(place)] == ["a--b"]


def test_a_different_channel_at_an_address_is_refused(place):
    channel_at(f"{place}/c", ChannelSpec("c", 3)).create()
    with pytest.raises(ValueError, match="holds another channel"):
        channel_at(f"{place}/c", ChannelSpec("c", 4)).create()
    assert open_channel(f"{place}/c").spec.groups == 3


def test_of_several_that_want_an_epoch_or_a_slot_the_first_gets_it(place):
    """The two atomic steps that the producer protocol is built on."""
    channel = channel_at(f"{place}/c", ChannelSpec("c", 3))
    channel.create()
    log, seal = channel.log(), Manifest(ManifestKind.SEAL, -1, 5)
    assert log.declare("p", 1, Opening(-1, NEVER, 7))
    assert not channel.log().declare("p", 1, Opening(-1, NEVER, 8))
    assert channel.log().opening("p", 1).term == 7
    assert log.take("p", 1, 0, seal)
    assert not channel.log().take("p", 1, 0, Manifest(ManifestKind.BATCH, 0, 6))
    assert channel.log().entry("p", 1, 0) == seal
