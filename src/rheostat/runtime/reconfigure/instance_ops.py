"""The nodes together: starting, holding, aligning and stopping instances wherever they are."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from rheostat.errors import RuntimeFault
from rheostat.runtime.channels.log.consumers import committed, forget, lag
from rheostat.runtime.channels.log.disk_log import DiskLog, last_epoch
from rheostat.runtime.channels.log.hold_file import HoldOrder, write_control
from rheostat.runtime.channels.log.producer import close_producer, open_producer
from rheostat.runtime.channels.records.channel import Channel
from rheostat.runtime.channels.records.disk import Disk
from rheostat.runtime.channels.records.manifest import NEVER
from rheostat.runtime.channels.records.offset import Offset
from rheostat.runtime.nodes.spark_node import NodePort
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.instance_spec import InstanceSpec, InstanceStatus
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan
from rheostat.runtime.reconfigure.read_positions import furthest, read_offsets

POLL_SECONDS = 0.02
AT_ONCE = 2 * max(1, os.cpu_count() or 1)
"""Starting and stopping a query is half waiting; more at once than this make all of them late."""
MOST_RESTARTS = 20
"""So often an instance is started again by itself; then something is wrong that a restart does not mend."""


class Crew:
    """What the controller can make the nodes do."""

    def __init__(self, blueprint: Blueprint, nodes: Mapping[str, NodePort], disk: Disk) -> None:
        self.blueprint, self.nodes, self._disk = blueprint, nodes, disk
        self._started: dict[str, Instance] = {}
        self._failures: Counter[int] = Counter()
        self.lost: set[str] = set()
        self._threads = ThreadPoolExecutor(AT_ONCE, "crew")
        self._stand_ins: dict[int, str] = {}
        self._patient_until: dict[int, float] = {}
        self._committed_then: dict[int, int] = {}

    def node(self, instance: Instance) -> NodePort:
        """What runs an instance: its node, or the one that stands in for it."""
        return self.nodes[self.place(instance)]

    def place(self, instance: Instance) -> str:
        """Name of the node that runs an instance. Checkpoints and channels are shared: any node can take it up."""
        if instance.node not in self.lost:
            self._stand_ins.pop(instance.number, None)
            return instance.node
        place = self._stand_ins.get(instance.number)
        if place is None or place in self.lost:
            present = [name for name in self.nodes if name not in self.lost]
            if not present:
                raise RuntimeFault("all nodes are lost")
            place = max(present, key=self._slots_left().__getitem__)
            self._stand_ins[instance.number] = place
        return place

    def _slots_left(self) -> dict[str, float]:
        """Of every node, with what it runs in place of others."""
        left = {node.name: node.capacity for node in self.blueprint.infrastructure.nodes}
        operators = self.blueprint.application.by_name
        for other in self._started.values():
            host = self._stand_ins.get(other.number) if other.node in self.lost else other.node
            if host in left:
                left[host] -= other.replicas * sum(operators[name].resources for name in other.operators)
        return left

    def lose(self, node: str) -> None:
        """From now on others stand in for a node. Whoever says so has made sure that nothing runs there any more."""
        self.lost.add(node)

    def regain(self, node: str) -> None:
        """The node is there again and runs its own instances."""
        self.lost.discard(node)

    def spec(self, instance: Instance, frontier: int = NEVER) -> InstanceSpec:
        """The description to start an instance by, its epoch opened: from now on older ones are fenced off."""
        outputs = self.blueprint.outputs_of(instance)
        logs = [DiskLog(channel) for channel in outputs]
        newest = max((last_epoch(log, instance.producer) or 0 for log in logs), default=0)
        # A later epoch than those before this instance means that it has run: its batch numbers go on.
        continues = newest > instance.epochs_before
        for log in logs:
            open_producer(
                log,
                self._disk,
                instance.producer,
                newest + 1,
                continues=continues,
                frontier=frontier,
                now_ms=_now_ms(),
            )
        return self.blueprint.spec(instance, newest + 1, continues=continues)

    def epochs(self, instance: Instance) -> int:
        """How many epochs the producer of an instance has had."""
        logs = [DiskLog(channel) for channel in self.blueprint.outputs_of(instance)]
        return max((last_epoch(log, instance.producer) or 0 for log in logs), default=0)

    def promise(self, instances: Iterable[Instance], tail: str) -> int:
        """How far event time has come in the output of an operator: what its producers have all promised."""
        frontiers = []
        for instance in instances:
            for channel in self.blueprint.outputs_of(instance) if instance.tail == tail else ():
                log = DiskLog(channel)
                epoch = last_epoch(log, instance.producer)
                if epoch is not None:
                    producer = open_producer(log, self._disk, instance.producer, epoch)
                    frontiers.append(producer.frontier())
        return min(frontiers, default=NEVER)

    def adopt(self, instances: Iterable[Instance]) -> None:
        """Takes over instances that somebody else has started: from now on they are looked after."""
        self._started |= {instance.name: instance for instance in instances}

    def start(self, instances: Sequence[Instance], frontiers: Mapping[str, int] | None = None) -> None:
        """Opens all producers before the first query starts: a consumer must know whom to wait for."""
        specs = [self.spec(instance, (frontiers or {}).get(instance.tail, NEVER)) for instance in instances]
        self.adopt(instances)
        self.at_once(lambda pair: self.node(pair[0]).start(pair[1]), list(zip(instances, specs, strict=True)))

    def hold(self, instances: Iterable[Instance], *, starting: bool = False) -> None:
        """Asks instances to plan nothing new; with `starting`, only until they are released together."""
        for instance in instances:
            self._control(instance, HoldOrder(hold=True, starting=starting))

    def release(self, instances: Iterable[Instance]) -> None:
        """Lets instances go."""
        for instance in instances:
            self._control(instance, HoldOrder())

    def rest(self, instances: Sequence[Instance]) -> None:
        """Waits until held instances have seen it and have done all they had planned."""
        names = {instance.name for instance in instances}
        self._wait(names, lambda status: status.resting, "come to rest")

    def up(self, instances: Sequence[Instance]) -> None:
        """Waits until instances run."""
        self._wait({instance.name for instance in instances}, lambda status: status.state == "running", "start")

    def stop(self, instances: Iterable[Instance]) -> None:
        """Stops instances, and sees to it that what they had planned is done."""

        def end(instance: Instance) -> None:
            node = self.node(instance)
            node.stop(instance.name, gently=True)
            node.settle(self.blueprint.spec(instance, self.epochs(instance) or 1, continues=True))

        self.at_once(end, list(instances))

    def align(self, instances: Sequence[Instance]) -> None:
        """Brings resting instances of one fragment to the same place in their input: the furthest any of them is."""
        reached = [read_offsets(self.blueprint, instance) for instance in instances]
        wanted = [furthest(column) for column in zip(*reached, strict=True)]
        behind = []
        for number, instance in enumerate(instances):
            targets = [column[number] for column in wanted]
            if any(not _same_place(a, b) for a, b in zip(targets, reached[number], strict=True)):
                behind.append((instance, targets))
        for instance, targets in behind:
            self._control(instance, HoldOrder(limits=tuple(targets)))
        for instance, targets in behind:
            self._catch_up(instance, targets)
        late = [instance for instance, _ in behind]
        self.hold(late)
        self.rest(late)

    def drain(self, instances: Sequence[Instance]) -> None:
        """Waits until everything that is in the input channels of running instances has been read."""
        heads = {
            (channel.path, instance.head): channel
            for instance in instances
            for channel in self.blueprint.inputs_of(instance)
        }
        for (_, head), channel in heads.items():
            self._empty(channel, head)

    def tidy(self, plan: PhysicalPlan) -> None:
        """Closes producers and forgets consumers and instances that the plan no longer has."""
        self._started = {instance.name: instance for instance in plan.instances}
        producers: dict[Path, set[str]] = {}
        consumers: dict[Path, set[str]] = {}
        for instance in plan.instances:
            for channel in self.blueprint.outputs_of(instance):
                producers.setdefault(channel.path, set()).add(instance.producer)
            for channel in self.blueprint.inputs_of(instance):
                consumers.setdefault(channel.path, set()).add(instance.name)
        for channel in self.channels():
            for producer in DiskLog(channel).producers():
                if producer not in producers.get(channel.path, set()):
                    close_producer(channel, self._disk, producer, _now_ms())
            # A channel that nobody reads now keeps what it knows: reading goes on there some day.
            for names in committed_names(channel) if consumers.get(channel.path) else ():
                if names not in consumers[channel.path]:
                    forget(channel, names, self._disk)

    def channels(self) -> list[Channel]:
        """Every channel there is."""
        application = self.blueprint.application
        found = [self.blueprint.channel(stream) for stream in application.streams]
        sinks = [self.blueprint.results(op.name) for op in application.operators]
        return found + [channel for channel in sinks if (channel.path / "channel.json").exists()]

    def statuses(self) -> dict[str, InstanceStatus]:
        """How every instance on every node is doing."""
        return {status.name: status for node in self.present() for status in node.statuses()}

    def present(self) -> list[NodePort]:
        """The nodes that are not lost."""
        return [node for name, node in self.nodes.items() if name not in self.lost]

    def at_once(self, act: Callable[[Any], None], subjects: Sequence[Any]) -> None:
        """Acts on all, several at a time; raises the first failure when all have been tried."""
        futures = [self._threads.submit(act, subject) for subject in subjects]
        wait(futures)
        for future in futures:
            future.result()

    def _control(self, instance: Instance, control: HoldOrder) -> None:
        write_control(self.blueprint.layout.control(instance.name), control, self._disk)

    def _catch_up(self, instance: Instance, targets: Sequence[Offset]) -> None:
        self._until(lambda: self._is_at(instance, targets), lambda: f"{self._told({instance.name})} did not catch up")

    def _empty(self, channel: Channel, head: str) -> None:
        def drained() -> bool:
            self.heal()
            return is_drained(channel, head)

        def left() -> str:
            log = DiskLog(channel)
            behind = {name: lag(log, head, name).manifests for name in log.producers()}
            return ", ".join(f"{count} batches of {name}" for name, count in behind.items() if count)

        self._until(drained, lambda: f"{head} did not empty {channel.name}: {left()} are left")

    def _is_at(self, instance: Instance, targets: Sequence[Offset]) -> bool:
        here = read_offsets(self.blueprint, instance)
        self._check({instance.name})
        return all(_same_place(a, b) for a, b in zip(here, targets, strict=True))

    def _wait(self, names: set[str], reached: Callable[[InstanceStatus], bool], what: str) -> None:
        late: set[str] = set(names)

        def everybody() -> bool:
            known = self._check(names)
            late.clear()
            late.update(name for name in names if name not in known or not reached(known[name]))
            return not late

        self._until(everybody, lambda: f"{self._told(late)} did not {what}")

    def _told(self, names: set[str]) -> str:
        """Instances and how they are doing, for people."""
        known = self.statuses()
        return ", ".join(
            f"{name} ({known[name].state}, batch {known[name].committed} of {known[name].planned} done)"
            if name in known
            else f"{name} (not there)"
            for name in sorted(names)
        )

    def _check(self, names: set[str]) -> dict[str, InstanceStatus]:
        known = self.heal()
        for name in sorted(names & known.keys()):
            worn_out = name in self._started and self._failures[self._started[name].number] >= MOST_RESTARTS
            if known[name].state == "failed" and (known[name].by_user or worn_out):
                raise RuntimeFault(known[name].error)
        return known

    def heal(self) -> dict[str, InstanceStatus]:
        """Starts again what failed through no fault of the user's code, some times; gives how everything is doing.

        A query that goes on from its checkpoint loses nothing; a worker that did not come up in time, or a disk that
        was full for a moment, is no reason to stand still.
        """
        known = self.statuses()
        for name, status in known.items():
            instance = self._started.get(name)
            if instance is not None and status.state == "running" and self._is_well(instance, status):
                self._failures.pop(instance.number, None)
            if status.state != "failed" or status.by_user or instance is None:
                continue
            failures = self._failures[instance.number]
            if failures < MOST_RESTARTS and time.monotonic() >= self._patient_until.get(instance.number, 0.0):
                self._failures[instance.number] += 1
                self._committed_then[instance.number] = status.committed
                # Ever slower: what failed because the machine is overloaded must not overload it further.
                self._patient_until[instance.number] = time.monotonic() + min(10.0, 0.5 * 2**failures)
                self.node(instance).stop(name)
                self.start([instance])
        return known

    def _is_well(self, instance: Instance, status: InstanceStatus) -> bool:
        """Whether it has got on since it was last started again: what failed before is forgiven."""
        if instance.number not in self._failures:
            return False
        return status.committed > self._committed_then.get(instance.number, -1)

    def _until(self, reached: Callable[[], bool], otherwise: Callable[[], str]) -> None:
        deadline = time.monotonic() + self.blueprint.settings.patience_seconds
        while not reached():
            if time.monotonic() > deadline:
                raise RuntimeFault(f"{otherwise()} within {self.blueprint.settings.patience_seconds:g} s")
            time.sleep(POLL_SECONDS)


def is_drained(channel: Channel, subscription: str) -> bool:
    """Whether a subscription has read all there is."""
    return lag(DiskLog(channel), subscription).manifests == 0


def committed_names(channel: Channel) -> list[str]:
    """Instances that have said how far they are."""
    names = []
    for subscription in committed(channel):
        names += [path.stem for path in (channel.subscriptions() / subscription).glob("*.json")]
    return names


def _same_place(one: Offset, other: Offset) -> bool:
    return one.cohorts == other.cohorts


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
