"""A running application: launched, changed while data flows, stopped and taken up again.

Level-triggered: the journal says what should run, the nodes say what does, and `reconcile` makes the one of the other.
So a controller that comes back after a crash does what a new one does: it reads the plan and brings it up.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace

import pyarrow as pa

from rheostat.control.loop.ports import NODE_JOINED, NODE_LEFT, Done, Effect, Entry, Journal, Refused, RolledBack
from rheostat.errors import JournalUnreadable, NodeUnreachable, RheostatError, RuntimeFault
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.membership import with_node, with_only
from rheostat.model.network.resources import Infrastructure
from rheostat.model.network.resources import Node as ModelNode
from rheostat.model.observation import Sample, Subject
from rheostat.runtime.channels.observe.result_rows import read_results
from rheostat.runtime.metrics.collector import CollectorSettings, MetricsCollector
from rheostat.runtime.metrics.stalls import Symptom
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.instance_spec import InstanceStatus
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan, physical_plan
from rheostat.runtime.query.progress_report import BatchReport
from rheostat.runtime.reconfigure.barriers import Barriers
from rheostat.runtime.reconfigure.change_executor import ChangeExecutor
from rheostat.runtime.reconfigure.change_lock import ChangeLock
from rheostat.runtime.reconfigure.channel_ends import is_drained
from rheostat.runtime.reconfigure.feasibility import objections
from rheostat.runtime.reconfigure.instance_ops import InstanceOperations
from rheostat.runtime.reconfigure.read_positions import ReadPositions
from rheostat.runtime.reconfigure.recorded_plan import RecordedPlan
from rheostat.runtime.reconfigure.restarts import Restarts
from rheostat.runtime.reconfigure.run_nodes import RunNodes
from rheostat.runtime.reconfigure.source_throttle import SourceThrottle
from rheostat.runtime.reconfigure.state_moves import refusals

LOG = logging.getLogger("rheostat.runtime.reconfigure")


class Runtime:
    """One application on its nodes."""

    def __init__(
        self,
        blueprint: Blueprint,
        nodes: Mapping[str, NodePort],
        journal: Journal,
        monitor: CollectorSettings | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self.journal = journal
        self._run = RunNodes(blueprint, dict(nodes))
        self._operations = InstanceOperations(self._run, Restarts(clock), term=journal.term)
        self._failover, self._barriers = self._operations.failover, Barriers(self._operations, clock, pause)
        self.monitor = MetricsCollector(blueprint, self._run.nodes, monitor, place=self._failover.place_of)
        self._throttle = SourceThrottle(self._operations)
        self.lock = ChangeLock()
        self._recorded = RecordedPlan()
        self._plan: PhysicalPlan | None = None
        self._unsettled = False
        self._unread = False
        """Whether a change has ended without the journal saying which plan holds."""
        self._up: Infrastructure | None = None

    @property
    def blueprint(self) -> Blueprint:
        """Application, paths and settings of the run, and its nodes; replaced when a node joins or leaves."""
        return self._run.blueprint

    @property
    def plan(self) -> PhysicalPlan:
        """The plan that should run."""
        if self._plan is None:
            raise ValueError("the application was not launched")
        return self._plan

    def launch(self, deployment: Deployment) -> None:
        """Starts the application, or takes it up where the journal says it was, whatever deployment is given."""
        self._read_journal()
        if self._plan is None:
            if reasons := self._objections(deployment):
                raise ValueError("; ".join(reasons))
            self.blueprint.create_channels()
            plan = physical_plan(self.blueprint.application, deployment, self.blueprint.settings.key_groups)
            self.journal.append(Entry("launch", time.time(), {"plan": plan.to_dict()}))
            self._plan = plan
        for node in self._failover.present():
            node.quiesce()
        self.reconcile()

    def reconcile(self) -> None:
        """Brings the nodes to the plan: stops instances it does not have, starts missing ones, releases all."""
        self._throttle.forget()
        self._operations.register(self.plan.instances)
        wanted = {instance.name: instance for instance in self.plan.instances}
        kept = set()
        for node in self._failover.present():
            for status in node.statuses():
                instance = wanted.get(status.name)
                if instance and status.state == "running" and self._failover.place_of(instance) == node.name:
                    kept.add(status.name)
                else:
                    # One that goes on elsewhere ends between two batches: what is cut off has to be done again there.
                    node.stop(status.name, gently=instance is not None)
        missing = [instance for name, instance in wanted.items() if name not in kept]
        self._operations.checkpoints.keep_only(self.plan.instances)
        # The promises of the instances before them hold for them, too: else all readers would wait until they have
        # published something, which an instance that is replaced again at once never does.
        promises = {one.tail: self._operations.channels.frontier(self._recorded.replaced, one.tail) for one in missing}
        self._barriers.bring_up(missing, promises)
        self._operations.keep_only(self.plan)
        self._operations.release(self.plan.instances)

    def deployment(self) -> Deployment:
        """What runs."""
        return self.plan.deployment

    def infrastructure(self) -> Infrastructure:
        """The nodes that are up. The same object as long as they are the same: who looks often need not compare."""
        names = frozenset(self._run.nodes) - self._failover.lost
        if self._up is None or names != self._up.index.keys():
            self._up = with_only(self.blueprint.infrastructure, names)
        return self._up

    @property
    def is_changing(self) -> bool:
        """Whether a change is under way."""
        return self.lock.is_changing

    def change_to(self, wanted: Deployment, before: Deployment | None = None) -> Reconfiguration | Refused:
        """The change that leads to a wanted deployment; refused if another one runs than was seen before."""
        current = self.deployment()
        if before is not None and before != current:
            return Refused(("the deployment has been changed meanwhile: look at rheostat status and ask again",))
        try:
            return Reconfiguration.between(current, wanted)
        except ValueError:
            return Refused(tuple(self._objections(wanted)))

    def apply(self, change: Reconfiguration) -> Effect:
        """Carries out a change as a whole: done, refused or rolled back."""
        if not change:
            return Done(0.0)
        with self.lock.for_change() as may_begin:
            return self._apply(change) if may_begin else Refused(("another change is under way",))

    def deploy(self, wanted: Deployment) -> Effect:
        """Carries out the change that leads to a deployment."""
        change = self.change_to(wanted)
        return change if isinstance(change, Refused) else self.apply(change)

    def _objections(self, wanted: Deployment) -> list[str]:
        current = self._plan.deployment if self._plan else None
        lost = self._failover.lost | (self.blueprint.infrastructure.index.keys() - self._run.nodes.keys())
        return objections(self.blueprint, wanted, current, lost=lost)

    def _apply(self, change: Reconfiguration) -> Effect:
        try:
            self._settle()
            wanted = change.apply(self.plan.deployment)
        except RuntimeFault as failure:
            return Refused((f"an earlier change is not settled yet: {failure}",))
        except ValueError as wrong:
            return Refused((str(wrong),))
        if reasons := self._objections(wanted):
            return Refused(tuple(reasons))
        old = self.plan
        counted = replace(old, counted=max(old.counted, self._recorded.counted))
        new = physical_plan(self.blueprint.application, wanted, self.blueprint.settings.key_groups, counted)
        try:
            reasons = refusals(self.blueprint, old, new, self._operations.checkpoints.state_kind)
        except RuntimeFault as failure:
            return RolledBack(str(failure))
        if reasons:
            return Refused(tuple(reasons))
        return self._carry_out(old, new)

    def _carry_out(self, old: PhysicalPlan, new: PhysicalPlan) -> Effect:
        """Carries out a change of the plan. After a failure the journal says which plan holds."""
        self._recorded = replace(self._recorded, changes=self._recorded.changes + 1, counted=new.counted)
        changing = ChangeExecutor(self._operations, self._barriers, self.journal, self._recorded.changes)
        # Whatever is created starts running; what is kept and held back stays so.
        self._throttle.held &= {instance.name for instance in old.instances if instance in new.instances}
        try:
            self._plan = changing.carry_out(old, new)
            paused = self._recorded.paused_seconds + changing.paused_seconds
            self._recorded = replace(self._recorded, plan=self._plan, paused_seconds=paused)
            self._operations.checkpoints.keep_only(self.plan.instances)
        except Exception as failure:
            if not isinstance(failure, RheostatError):
                LOG.exception("change %d failed", self._recorded.changes)
            # Whatever is half done is finished or undone as soon as all nodes answer: the journal says which.
            self._unsettled, self._unread = not changing.is_finished, True
            self._read_journal()
            if self._plan == old:
                return RolledBack(str(failure))
        return Done(changing.paused_seconds)

    def _read_journal(self) -> None:
        """Takes over the plan that holds. JournalUnreadable if the journal does not say it: nothing may start then."""
        try:
            self._recorded = RecordedPlan.of(self.journal)
        except Exception as failure:
            raise JournalUnreadable(str(failure)) from failure
        self._plan, self._unread = self._recorded.plan, False

    def statuses(self) -> dict[str, InstanceStatus]:
        """How every instance is doing."""
        return self._operations.statuses()

    def heal(self) -> dict[str, InstanceStatus]:
        """Restarts instances that failed outside user code, and throttles sources whose consumers lag too far.

        Gives the statuses found before.
        """
        with self.lock.for_care():
            self._settle()
            known = self._operations.heal()
            self._throttle.look(self.plan)
            return known

    def _settle(self) -> None:
        """Finishes or undoes a change that has failed, and starts what a node has lost or has to take back."""
        if self._unread:
            self._read_journal()
        if self._unsettled:
            self.reconcile()
            self._unsettled = False

    def use(self, node: NodePort) -> None:
        """Takes a node that has come back; what should run there is started again."""
        with self.lock.for_care():
            self._run_on({**self._run.nodes, node.name: node}, self.blueprint.infrastructure)
            self._failover.regain(node.name)
            self._unsettled = True

    def lose(self, node: str) -> None:
        """Gives a node up that is gone: `heal` lets others run its instances, until they are moved or it is back.

        The caller has made sure that nothing runs there any more; should something do so all the same, what it writes
        is fenced off, as the producers' epochs are newer.
        """
        with self.lock.for_care():
            self._failover.lose(node)
            self._unsettled = True

    def nodes_up(self) -> Sequence[NodePort]:
        """Those that are not given up."""
        return self._failover.present()

    def stand_ins(self) -> dict[str, str]:
        """Instance -> the node that runs it in place of its own."""
        places = {instance: self._failover.place_of(instance) for instance in self.plan.instances}
        return {instance.name: place for instance, place in places.items() if place != instance.node}

    def join(self, described: ModelNode, node: NodePort) -> None:
        """Takes a node that was not there before; it holds nothing until something is moved there."""
        with self.lock.for_care():
            if described.name in self.blueprint.infrastructure.index:
                raise ValueError(f"there is a node {described.name!r} already")
            self.journal.append(Entry(NODE_JOINED, time.time(), asdict(described)))
            self._run_on({**self._run.nodes, described.name: node}, with_node(self.blueprint.infrastructure, described))

    def leave(self, name: str) -> None:
        """Lets a node go that holds nothing; one that is not there has gone already."""
        with self.lock.for_care():
            if name not in self.blueprint.infrastructure.index:
                return
            if name in self.deployment().nodes():
                raise ValueError(f"node {name!r} is not empty: move its replicas away first")
            others = self.blueprint.infrastructure.index.keys() - {name}
            left = with_only(self.blueprint.infrastructure, others)
            self.journal.append(Entry(NODE_LEFT, time.time(), {"name": name}))
            self._failover.lost.discard(name)
            self._run_on({each: node for each, node in self._run.nodes.items() if each != name}, left)

    def _run_on(self, nodes: dict[str, NodePort], infrastructure: Infrastructure) -> None:
        """From now on these are the nodes. A new mapping: others may be going through the old one right now."""
        self._run.blueprint = self.monitor.blueprint = replace(self.blueprint, infrastructure=infrastructure)
        self._run.nodes = self.monitor.nodes = nodes
        self._up = None

    def samples(self) -> Sequence[Sample]:
        """What was measured since the last call; nothing until the monitor's period is over."""
        now = time.time()
        samples = self.monitor.samples(self.plan, now)
        if not samples:
            return []
        whole = Subject.application(self.blueprint.application.name)
        return [*samples, Sample(whole, now, {"downtime_seconds": self._recorded.paused_seconds})]

    def progress(self, instance: Instance, after: int = -1) -> Sequence[BatchReport]:
        """The recent batches of an instance after one; none while its node is out of reach."""
        try:
            return self._failover.node_of(instance).progress(instance.name, after)
        except RuntimeFault:
            return []

    def positions(self) -> ReadPositions:
        """Positions of instances in their inputs, as of now."""
        return self._operations.checkpoints.positions()

    def symptoms(self) -> Sequence[Symptom]:
        """Stalls, lags and silent nodes, as of the last samples."""
        return self.monitor.symptoms

    def is_drained(self) -> bool:
        """Whether every channel has been read to its end."""
        readers: dict[str, Instance] = {instance.head: instance for instance in self.plan.instances}
        return all(
            is_drained(channel, head)
            for head, instance in readers.items()
            for channel in self.blueprint.inputs_of(instance)
        )

    def results(self, sink: str) -> pa.Table:
        """What a results sink has received so far, in order."""
        return read_results(self.blueprint.results(sink))

    def stop(self) -> None:
        """Stops all queries; `launch` takes the application up again. On a node that is gone nothing runs any more."""
        for node in self._failover.present():
            with suppress(NodeUnreachable):
                for status in list(node.statuses()):
                    node.stop(status.name)
