"""A running application: launched, changed while data flows, stopped and taken up again.

Level-triggered: the journal says what should run, the nodes say what does, and `reconcile` makes the one of the other.
So a controller that comes back after a crash does what a new one does: it reads the plan and brings it up.
"""

import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from threading import Lock

import pyarrow as pa

from rheostat.control.loop.migration import Event
from rheostat.control.loop.ports import NODE_JOINED, NODE_LEFT, Done, Effect, Entry, Journal, Refused, RolledBack
from rheostat.errors import NodeUnreachable, RheostatError
from rheostat.machine.disk import Disk
from rheostat.model.graph.application import Kind
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.membership import with_node, with_only
from rheostat.model.network.resources import Infrastructure
from rheostat.model.network.resources import Node as ModelNode
from rheostat.model.observation import Sample, Subject
from rheostat.model.quality.evaluation import overloaded_nodes
from rheostat.model.quality.placed import Placed
from rheostat.runtime.channels.observe.result_rows import read_results
from rheostat.runtime.metrics.collector import CollectorSettings, MetricsCollector
from rheostat.runtime.metrics.stalls import Symptom
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.instance_spec import InstanceStatus
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan, physical_plan
from rheostat.runtime.reconfigure.barriers import Barriers
from rheostat.runtime.reconfigure.change_executor import ChangeExecutor, PlanDifference
from rheostat.runtime.reconfigure.channel_ends import is_drained
from rheostat.runtime.reconfigure.instance_ops import InstanceOperations
from rheostat.runtime.reconfigure.run_nodes import RunNodes
from rheostat.runtime.reconfigure.source_throttle import SourceThrottle
from rheostat.runtime.reconfigure.state_moves import refusals


class Runtime:
    """One application on its nodes."""

    def __init__(
        self,
        blueprint: Blueprint,
        nodes: Mapping[str, NodePort],
        journal: Journal,
        monitor: CollectorSettings | None = None,
    ) -> None:
        self.journal = journal
        self._run = RunNodes(blueprint, dict(nodes))
        self._operations = InstanceOperations(self._run, Disk(), term=journal.term)
        self._failover, self._barriers = self._operations.failover, Barriers(self._operations)
        self.monitor = MetricsCollector(blueprint, self._run.nodes, monitor, place=self._failover.place_of)
        self._throttle = SourceThrottle(self._operations)
        self._changing = Lock()
        self._changes = 0
        self._paused_seconds = 0.0
        self._plan: PhysicalPlan | None = None
        self._unsettled = False
        self._up: Infrastructure | None = None
        self._replaced: tuple[Instance, ...] = ()
        """What the last change has replaced, if somebody else has to finish it."""

    @property
    def blueprint(self) -> Blueprint:
        """What is fixed about the run; another one when a node joins or leaves."""
        return self._run.blueprint

    @property
    def plan(self) -> PhysicalPlan:
        """What should run."""
        if self._plan is None:
            raise ValueError("the application was not launched")
        return self._plan

    def launch(self, deployment: Deployment) -> None:
        """Starts the application, or takes it up where the journal says it was, whatever deployment is given."""
        self._plan = self._recorded()
        if self._plan is None:
            if reasons := self._impossible(deployment):
                raise ValueError("; ".join(reasons))
            self.blueprint.create_channels()
            plan = physical_plan(self.blueprint.application, deployment, self.blueprint.settings.key_groups)
            self.journal.append(Entry("launch", time.time(), {"plan": plan.to_dict()}))
            self._plan = plan
        for node in self._failover.present():
            node.quiesce()
        self.reconcile()

    def reconcile(self) -> None:
        """Makes what runs what should run: stops what is too much, starts what is missing, lets everything go."""
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
        self._discard_foreign()
        # What those before them had promised holds for them, too: else nobody downstream gets on until they have
        # published something, which one that is replaced again at once never does.
        promises = {one.tail: self._operations.channels.frontier(self._replaced, one.tail) for one in missing}
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

    def apply(self, change: Reconfiguration) -> Effect:
        """Carries out a change as a whole: done, refused or rolled back."""
        if not change:
            return Done(0.0)
        if not self._changing.acquire(blocking=False):
            return Refused(("another change is under way",))
        try:
            return self._apply(change)
        finally:
            self._changing.release()

    def deploy(self, wanted: Deployment) -> Effect:
        """Changes whatever differs."""
        return self.apply(Reconfiguration.between(self.deployment(), wanted))

    def _apply(self, change: Reconfiguration) -> Effect:
        old = self.plan
        try:
            wanted = change.apply(old.deployment)
        except ValueError as wrong:
            return Refused((str(wrong),))
        if reasons := self._impossible(wanted):
            return Refused(tuple(reasons))
        new = physical_plan(self.blueprint.application, wanted, self.blueprint.settings.key_groups, old)
        if reasons := refusals(self.blueprint, old, new):
            return Refused(tuple(reasons))
        self._changes += 1
        changing = ChangeExecutor(self._operations, self._barriers, self.journal, self._changes)
        # Whatever is created starts running; what is kept and held back stays so.
        self._throttle.held &= {instance.name for instance in old.instances if instance in new.instances}
        try:
            self._plan = changing.carry_out(old, new)
            self._paused_seconds += changing.paused_seconds
            self._discard_foreign()
        except RheostatError as failure:
            # Whatever is half done is finished or undone as soon as all nodes answer: the journal says which.
            self._plan = self._recorded() or old
            self._unsettled = not changing.is_finished
            if self._plan == old:
                return RolledBack(str(failure))
        return Done(changing.paused_seconds)

    def _impossible(self, wanted: Deployment) -> list[str]:
        """Everything that forbids a deployment, in words."""
        application, infrastructure = self.blueprint.application, self.blueprint.infrastructure
        found = [f"{m.what}; {m.remedy}" for m in wanted.mistakes(application, infrastructure.index)]
        if found:
            return found
        total = self.blueprint.settings.key_groups
        for name, replicas in wanted.items():
            operator = application.by_name[name]
            if len(replicas) > total:
                found.append(f"operator {name!r} has {len(replicas)} replicas, more than the {total} key groups")
            if operator.kind is Kind.SOURCE and len(list(replicas)) > 1:
                found.append(f"source {name!r} cannot be spread over nodes")
            if operator.is_foreign_sink and len(list(replicas)) > 1:
                found.append(f"sink {name!r} cannot be spread over nodes: only the results sink is exact then")
        for node, (used, capacity) in overloaded_nodes(Placed(application, infrastructure, wanted)).items():
            found.append(f"node {node!r} has {capacity:g} slots, {used:g} are needed")
        return found + [f"node {node!r} does not run" for node in self._not_there(wanted)]

    def _not_there(self, wanted: Deployment) -> list[str]:
        """Nodes that a deployment needs and cannot have.

        What is on a lost node already stays with its stand-in until it is moved; nothing new goes there.
        """
        before = {
            name: dict(replicas.counts) for name, replicas in (self._plan.deployment.items() if self._plan else ())
        }
        more = {
            node
            for name, replicas in wanted.items()
            for node, count in replicas.counts
            if count > before.get(name, {}).get(node, 0)
        }
        lost = self._failover.lost
        return [node for node in wanted.nodes() if (node in more if node in lost else node not in self._run.nodes)]

    def _recorded(self) -> PhysicalPlan | None:
        """The plan that holds, as the journal tells; and what it has replaced, if that was not finished."""
        plan, paused = None, 0.0
        before: PhysicalPlan | None = None
        for _, entry in self.journal.read():
            if entry.kind == "launch" or (entry.kind == "change" and entry.facts["event"] == Event.BUILT.value):
                before, plan = plan, PhysicalPlan.from_dict(entry.facts["plan"])  # type: ignore[arg-type]
            if entry.kind == "change" and entry.facts["event"] == Event.RESUMED.value:
                before = None
            if entry.kind == "change":
                paused += float(entry.facts.get("paused_seconds", 0.0))  # type: ignore[arg-type]
                self._changes = max(self._changes, int(entry.facts["change"]))  # type: ignore[arg-type]
        self._paused_seconds = paused
        self._replaced = PlanDifference.between(before, plan).retired if before is not None and plan is not None else ()
        return plan

    def _discard_foreign(self) -> None:
        """Removes checkpoints that no instance of the plan has.

        An interrupted change left them, or a state store that wrote its last snapshot in the background when its query
        had been stopped and its checkpoint removed.
        """
        wanted = {self.blueprint.checkpoint(instance) for instance in self.plan.instances}
        for folder in self.blueprint.layout.root.glob("nodes/*/checkpoints/*/*"):
            if folder not in wanted:
                shutil.rmtree(folder, ignore_errors=True)

    def statuses(self) -> dict[str, InstanceStatus]:
        """How every instance is doing."""
        return self._operations.statuses()

    def heal(self) -> dict[str, InstanceStatus]:
        """Starts again what failed through no fault of the user's code, and holds back sources nobody keeps up with.

        Gives how every instance is doing.
        """
        with self._changing:
            if self._unsettled:
                self.reconcile()
                self._unsettled = False
            known = self._operations.heal()
            self._throttle.look(self.plan)
            return known

    def use(self, node: NodePort) -> None:
        """Takes a node that has come back; what should run there is started again."""
        with self._changing:
            self._run_on({**self._run.nodes, node.name: node}, self.blueprint.infrastructure)
            self._failover.regain(node.name)
            self._unsettled = True

    def lose(self, node: str) -> None:
        """Gives a node up that is gone: `heal` lets others run its instances, until they are moved or it is back.

        The caller has made sure that nothing runs there any more; should something do so all the same, what it writes
        is fenced off, as the producers' epochs are newer.
        """
        with self._changing:
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
        with self._changing:
            if described.name in self.blueprint.infrastructure.index:
                raise ValueError(f"there is a node {described.name!r} already")
            self.journal.append(Entry(NODE_JOINED, time.time(), asdict(described)))
            self._run_on({**self._run.nodes, described.name: node}, with_node(self.blueprint.infrastructure, described))

    def leave(self, name: str) -> None:
        """Lets a node go that holds nothing; one that is not there has gone already."""
        with self._changing:
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
        return [*samples, Sample(whole, now, {"downtime_seconds": self._paused_seconds})]

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
