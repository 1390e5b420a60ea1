"""The law of the channel: through crashes, fencing, splits, merges and cleaning every row is handed over once."""

import shutil
import tempfile
from contextlib import suppress
from itertools import combinations
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.runtime.channels.world import Died, MortalDisk, Row, channel_at, on, opened, publish, rows_between, waits

from rheostat.errors import Fenced
from rheostat.machine.disk import Disk
from rheostat.runtime.channels.log.disk_log import DiskLog
from rheostat.runtime.channels.log.memory_channel import MemoryChannels
from rheostat.runtime.channels.port.backlog import subscription_backlog
from rheostat.runtime.channels.port.channel import Channel, ChannelProducer
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.offset import Offset, merge, restrict
from rheostat.runtime.reconfigure.read_positions import furthest

GROUPS = 4
DISORDER = 3
NAMES = ["a@n1", "b@n2", "c@n3"]
crashes = st.one_of(st.none(), st.integers(0, 30))


class Source:
    """The input of a producer: batch n is fixed when it is first planned, like Spark's offset log does it.

    Everyone has its own event time, and begins where the others are.
    """

    def __init__(self, name: str) -> None:
        self.name, self.planned, self.published = name, [], 0
        self.epoch, self.zombies, self.closed = 0, [], False
        self.clock = 0
        self.handle: ChannelProducer | None = None

    @property
    def rows(self) -> list[Row]:
        return [row for rows, _ in self.planned for row in rows]


class ChannelLaw(RuleBasedStateMachine):
    timed = False

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.channel = self.created("time" if self.timed else None)
        self.sources = {name: Source(name) for name in NAMES}
        start = Offset.start("c", self.channel.spec.all_groups)
        self.instances: dict[str, Offset] = {"k@i0": start}
        self.channel.consumers.commit("k@i0", start)
        self.handed: list[tuple[str, frozenset[int], list[Row], int]] = []
        self.replaced: list[tuple[int, frozenset[str], frozenset[str]]] = []
        """After how many batches which instances were replaced by which."""
        self.born = 1
        self.log = self.channel.log()

    def created(self, event_time: str | None) -> Channel:
        return channel_at(self.folder, GROUPS, event_time)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.drain()
            shutil.rmtree(self.folder)

    @rule(name=st.sampled_from(NAMES), crash=crashes, fresh=st.booleans())
    def start(self, name: str, crash: int | None, fresh: bool) -> None:
        """Starts a producer, or restarts it: in the same epoch or in a new one that fences the old off."""
        source = self.sources[name]
        if source.closed:
            return
        if source.handle is not None:
            source.zombies.append(source.handle)
        if not source.epoch:
            source.clock = max(other.clock for other in self.sources.values())
        epoch = max(1, source.epoch + fresh)
        try:
            source.handle = opened(self.channel, name, epoch, MortalDisk(crash) if crash is not None else None)
            source.epoch = epoch
        except Died:
            source.handle = opened(self.channel, name, epoch)
            source.epoch = epoch

    @rule(
        name=st.sampled_from(NAMES),
        groups=st.lists(st.tuples(st.integers(0, GROUPS - 1), st.integers(0, DISORDER)), max_size=6),
        crash=crashes,
        tick=st.integers(0, 4),
        data=st.data(),
    )
    def write(
        self, name: str, groups: list[tuple[int, int]], crash: int | None, tick: int, data: st.DataObject
    ) -> None:
        """Plans and writes the next batch; repeats it after a crash.

        In a batch, rows come in no order at all; a promise may be weaker than what its producer keeps.
        """
        source = self.sources[name]
        if source.handle is None or source.closed:
            return
        times = []
        for _, early in groups:
            source.clock += tick
            times.append(source.clock - early)
        first = len(source.rows)
        rows = [
            Row(name, first + number, group, time)
            for number, ((group, _), time) in enumerate(zip(groups, data.draw(st.permutations(times)), strict=True))
        ]
        source.planned.append((rows, source.clock - DISORDER - data.draw(st.integers(0, 10))))
        number = len(source.planned) - 1
        if crash is not None:
            try:
                self.publish(source.handle, source, number, MortalDisk(crash))
            except Died:
                source.handle = opened(self.channel, name, source.epoch)
        self.publish(source.handle, source, number, Disk())

    @precondition(lambda self: any(source.zombies and source.planned for source in self.sources.values()))
    @rule(data=st.data())
    def haunt(self, data: st.DataObject) -> None:
        """A zombie writes its last batch again: it is refused or has no effect."""
        source = data.draw(st.sampled_from([s for s in self.sources.values() if s.zombies and s.planned]))
        zombie = data.draw(st.sampled_from(source.zombies))
        try:
            assert not self.publish(zombie, source, len(source.planned) - 1, Disk())
        except Fenced:
            assert zombie.epoch < source.epoch or source.closed

    def publish(self, handle: ChannelProducer, source: Source, number: int, disk: Disk) -> bool:
        rows, frontier = source.planned[number]
        if isinstance(handle._log, DiskLog):
            handle._log.disk = disk
        return publish(self.channel, handle, number, rows, frontier=frontier, disk=disk)

    @rule(name=st.sampled_from(NAMES))
    def close(self, name: str) -> None:
        """Whoever is replaced is closed when its successor is open: what nobody holds back is promised for ever."""
        if all(other.closed or not other.epoch for other in self.sources.values() if other.name != name):
            return
        self.channel.producers.close(name, 0)
        if self.sources[name].epoch:
            self.sources[name].closed = True

    @rule(data=st.data(), budget=st.one_of(st.none(), st.integers(1, 8)), replay=st.booleans(), done=st.booleans())
    def consume(self, data: st.DataObject, budget: int | None, replay: bool, done: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.instances)))
        start = self.instances[name]
        end = advance(self.log, start, budget)
        rows = rows_between(self.channel, start, end)
        if replay:
            again = rows_between(self.channel, start, end, replicas=1)
            assert sorted(map(repr, again)) == sorted(map(repr, rows))
        self.handed.append((name, start.groups, rows, end.frontier))
        self.instances[name] = end
        if done:
            self.channel.consumers.commit(name, end)

    @rule(data=st.data())
    def reown(self, data: st.DataObject) -> None:
        """All instances are replaced by others that own other groups; with event time, when all have read the same."""
        if self.timed:
            self.come_together()
        whole = merge(self.instances.values())
        owners = [data.draw(st.integers(0, 2)) for _ in range(GROUPS)]
        old, self.instances = self.instances, {}
        for owner in sorted(set(owners)):
            groups = frozenset(g for g in range(GROUPS) if owners[g] == owner)
            self.instances[f"k@i{self.born}"] = restrict(whole, groups)
            self.born += 1
        for name, offset in self.instances.items():
            self.channel.consumers.commit(name, offset)
        for name in old:
            self.channel.consumers.forget(name)
        self.replaced.append((len(self.handed), frozenset(old), frozenset(self.instances)))

    def come_together(self) -> None:
        """As before a change: everybody goes to where the furthest is, which needs no leave of event time."""
        for (name, start), end in zip(self.instances.items(), furthest(list(self.instances.values())), strict=True):
            self.handed.append((name, start.groups, rows_between(self.channel, start, end), end.frontier))
            self.instances[name] = end

    @rule(crash=crashes)
    def clean(self, crash: int | None) -> None:
        with suppress(Died):
            on(self.channel, MortalDisk(crash) if crash is not None else None).consumers.clean(10**15, grace_ms=0)

    @invariant()
    def the_least_frontier_never_waits(self) -> None:
        """No deadlock: when consumers have taken all they may, some producer that is not closed may write."""
        if not getattr(self, "instances", None):
            return
        live = [s for s in self.sources.values() if s.epoch and not s.closed]
        if not live or any(advance(self.log, offset) != offset for offset in self.instances.values()):
            return
        for name, offset in self.instances.items():
            self.channel.consumers.commit(name, offset)
        assert not all(waits(self.channel, 0, source.name) for source in live)

    def drain(self) -> None:
        for source in self.sources.values():
            if source.epoch:
                self.channel.producers.close(source.name, 0)
        for _ in range(200):
            before = dict(self.instances)
            for name, start in before.items():
                end = advance(self.log, start, 5)
                self.handed.append((name, start.groups, rows_between(self.channel, start, end), end.frontier))
                self.instances[name] = end
                self.channel.consumers.commit(name, end)
            if before == self.instances:
                break
        assert subscription_backlog(self.channel, "k").rows == 0
        self.check()

    def check(self) -> None:
        for group in range(GROUPS):
            seen = [row for _, _, rows, _ in self.handed for row in rows if row.group == group]
            for source in self.sources.values():
                self.check_order([row for row in seen if row.producer == source.name], source, group)
        if self.timed:
            self.check_promises()
            self.check_watermarks()

    def check_order(self, handed: list[Row], source: Source, group: int) -> None:
        """Batch by batch, and in a batch as they were written; where a cut goes through a batch, earlier rows first."""
        for rows, _ in source.planned:
            wanted = [row for row in rows if row.group == group]
            found, handed = handed[: len(wanted)], handed[len(wanted) :]
            assert sorted(found, key=lambda row: row.number) == wanted
            for before, after in combinations(found, 2):
                assert before.number < after.number or (self.timed and before.time < after.time)
        assert not handed

    def check_promises(self) -> None:
        for group in range(GROUPS):
            promised = -(10**9)
            for _, groups, rows, frontier in self.handed:
                if group in groups:
                    assert all(row.time >= promised for row in rows if row.group == group), "below a promised frontier"
                    promised = max(promised, frontier)

    def check_watermarks(self) -> None:
        """Spark's watermark is one for all that a query reads, whatever the key group, and goes on with the state."""
        latest = dict.fromkeys(["k@i0"], -(10**9))
        changes = iter([*self.replaced, (len(self.handed), frozenset(), frozenset())])
        change = next(changes)
        for number, (name, _, rows, _) in enumerate(self.handed):
            while change[0] == number:
                latest |= dict.fromkeys(change[2], max(latest[old] for old in change[1]))
                change = next(changes)
            times = [row.time for row in rows]
            assert all(time >= latest[name] - DISORDER for time in times), "a row would be late for a watermark"
            latest[name] = max([latest[name], *times])


class TimedChannelLaw(ChannelLaw):
    timed = True


class MemoryChannelLaw(ChannelLaw):
    """The same in memory, where nothing crashes but everything else happens."""

    def created(self, event_time: str | None) -> Channel:
        channel = MemoryChannels().at("memory:law", ChannelSpec("c", GROUPS, event_time))
        channel.create()
        return channel


class TimedMemoryChannelLaw(MemoryChannelLaw):
    timed = True


_settings = settings(
    max_examples=100,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestChannel = ChannelLaw.TestCase
TestChannel.settings = _settings
TestTimedChannel = TimedChannelLaw.TestCase
TestTimedChannel.settings = _settings
TestMemoryChannel = MemoryChannelLaw.TestCase
TestMemoryChannel.settings = _settings
TestTimedMemoryChannel = TimedMemoryChannelLaw.TestCase
TestTimedMemoryChannel.settings = _settings
