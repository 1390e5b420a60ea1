"""Operations on instances, wherever they run: start, hold, release, stop, restart."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from rheostat.errors import RuntimeFault
from rheostat.runtime.channels.hold_file import HoldOrder
from rheostat.runtime.channels.records.manifest import NEVER
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.instance_spec import InstanceSpec, InstanceStatus
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan
from rheostat.runtime.reconfigure.channel_ends import ChannelEnds
from rheostat.runtime.reconfigure.failover import Failover
from rheostat.runtime.reconfigure.restarts import Restarts
from rheostat.runtime.reconfigure.run_checkpoints import RunCheckpoints
from rheostat.runtime.reconfigure.run_nodes import RunNodes

MOST_AT_ONCE = 2 * max(1, os.cpu_count() or 1)
"""Starting and stopping a query is half waiting; more at once than this make all of them late."""


class InstanceOperations:
    """Starts, holds, stops and restarts the instances of a run."""

    def __init__(self, run: RunNodes, restarts: Restarts | None = None, term: int = 0) -> None:
        self._run = run
        self.failover = Failover(run)
        self.channels = ChannelEnds(run, term)
        self.checkpoints = RunCheckpoints(run, self.failover)
        self._restarts = restarts or Restarts()
        self._started: dict[str, Instance] = {}
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, "instances")

    @property
    def blueprint(self) -> Blueprint:
        """Application, paths and settings of the run, and its nodes."""
        return self._run.blueprint

    def register(self, instances: Iterable[Instance]) -> None:
        """Looks after instances from now on, also after those that a former controller has started."""
        found = list(instances)
        self._started |= {instance.name: instance for instance in found}
        self.failover.add(found)

    def keep_only(self, plan: PhysicalPlan) -> None:
        """Forgets instances that the plan does not have, closes their producers and removes their positions."""
        self._started = {instance.name: instance for instance in plan.instances}
        self.failover.keep_only(plan.instances)
        self.channels.close_unused(plan)

    def start(self, instances: Sequence[Instance], frontiers: Mapping[str, int] | None = None) -> None:
        """Starts instances. All producers are opened before the first query starts: consumers wait for all of them."""
        known = frontiers or {}
        specs = [self._opened(instance, known.get(instance.tail, NEVER)) for instance in instances]
        self.register(instances)
        self.in_parallel(
            lambda pair: self.failover.node_of(pair[0]).start(pair[1]), list(zip(instances, specs, strict=True))
        )

    def _opened(self, instance: Instance, frontier: int) -> InstanceSpec:
        epoch = self.channels.open_epoch(instance, frontier)
        return self.blueprint.spec(instance, epoch.number, continues=epoch.continues, term=epoch.term)

    def hold(self, instances: Iterable[Instance], *, starting: bool = False) -> None:
        """Orders instances to plan nothing new; with `starting`, only until they are released together."""
        self.in_parallel(lambda one: self.order(one, HoldOrder(hold=True, starting=starting)), list(instances))

    def release(self, instances: Iterable[Instance]) -> None:
        """Lets held instances go on."""
        self.in_parallel(lambda one: self.order(one, HoldOrder()), list(instances))

    def order(self, instance: Instance, order: HoldOrder) -> None:
        """Gives an instance an order; it survives a crash."""
        self.failover.node_of(instance).hold(instance.name, order)

    def stop(self, instances: Iterable[Instance]) -> None:
        """Stops instances between two batches, and completes the batch that each had planned."""

        def end(instance: Instance) -> None:
            node = self.failover.node_of(instance)
            node.stop(instance.name, gently=True)
            epoch = self.channels.present_epoch(instance)
            node.checkpoints.take(self.blueprint.spec(instance, epoch.number, continues=True, term=epoch.term))

        self.in_parallel(end, list(instances))

    def statuses(self) -> dict[str, InstanceStatus]:
        """Status of every instance on every present node."""
        return {status.name: status for node in self.failover.present() for status in node.statuses()}

    def heal(self) -> dict[str, InstanceStatus]:
        """Restarts failed instances that are due, and gives the statuses found before.

        A query that goes on from its checkpoint loses nothing: a worker that did not come up in time, or a disk that
        was full for a moment, needs a restart and nothing more.
        """
        known = self.statuses()
        for name, status in known.items():
            instance = self._started.get(name)
            if instance is None:
                continue
            self._restarts.note(instance, status)
            if self._restarts.is_due(instance, status):
                self._restarts.count(instance, status)
                self.failover.node_of(instance).stop(name)
                self.start([instance])
        return known

    def heal_all_of(self, names: set[str]) -> dict[str, InstanceStatus]:
        """Heals; raises RuntimeFault if one of the named instances has failed for good."""
        known = self.heal()
        for name in sorted(names & known.keys()):
            status = known[name]
            worn_out = name in self._started and self._restarts.is_given_up(self._started[name])
            if status.state == "failed" and (status.by_user or worn_out):
                raise RuntimeFault(status.error)
        return known

    def in_parallel(self, act: Callable[[Any], None], subjects: Sequence[Any]) -> None:
        """Acts on all subjects, several at a time; raises the first failure when all have been tried."""
        futures = [self._threads.submit(act, subject) for subject in subjects]
        wait(futures)
        for future in futures:
            future.result()
