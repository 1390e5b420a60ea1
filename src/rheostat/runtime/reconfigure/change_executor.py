"""Execution of a change of the physical plan, by the table of `control.loop.migration`; every step is journaled."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rheostat.control.loop.migration import Event, Migration
from rheostat.control.loop.ports import Entry, Journal
from rheostat.model.graph.application import Kind
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan, retired_instances
from rheostat.runtime.reconfigure.barriers import Barriers
from rheostat.runtime.reconfigure.instance_ops import InstanceOperations
from rheostat.runtime.reconfigure.state_moves import job_for


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """The instances that a change retires, and those that it creates; all others stay untouched."""

    retired: tuple[Instance, ...]
    created: tuple[Instance, ...]

    @classmethod
    def between(cls, old: PhysicalPlan, new: PhysicalPlan) -> "PlanDifference":
        """By the numbers of the instances."""
        return cls(retired_instances(old, new), retired_instances(new, old))


class ChangeExecutor:
    """Executes one change."""

    def __init__(self, operations: InstanceOperations, barriers: Barriers, journal: Journal, number: int) -> None:
        self._operations, self._barriers, self._journal, self._number = operations, barriers, journal, number
        self._blueprint, self._checkpoints = operations.blueprint, operations.checkpoints
        self._migration = Migration()
        self.paused_seconds = 0.0

    def carry_out(self, old: PhysicalPlan, new: PhysicalPlan) -> PhysicalPlan:
        """Carries out the change and gives the new plan; a failure before the switch is rolled back and raised."""
        difference = PlanDifference.between(old, new)
        wanted = {operator: dict(replicas.counts) for operator, replicas in new.deployment.items()}
        # The numbers are used up from here on, also if the change is rolled back.
        self._note(Event.BEGIN, {"wanted": wanted, "counted": new.counted})
        try:
            self._operations.failover.add(difference.created)
            prepared = self._prepare(difference, old)
            began = self._hold(difference, new)
            self._note(Event.HELD)
            self._operations.stop(difference.retired)
            self._note(Event.SAVED)
            settled = self._settle_plan(difference, old, new)
            self._build(settled, old, prepared)
        except Exception:
            self._roll_back(old, difference)
            raise
        # The switch. From here on the new plan holds, whatever happens.
        self._note(Event.BUILT, {"plan": settled.to_dict()})
        created = [one for one in settled.instances if one.number in {c.number for c in difference.created}]
        promises = {one.tail: self._operations.channels.frontier(difference.retired, one.tail) for one in created}
        self._barriers.bring_up(created, promises)
        self._note(Event.STARTED)
        self._operations.keep_only(settled)
        self._operations.release(created)
        self.paused_seconds = time.monotonic() - began
        self._note(Event.RESUMED, {"paused_seconds": round(self.paused_seconds, 3)})
        self._checkpoints.discard(difference.retired)
        return settled

    @property
    def is_finished(self) -> bool:
        """Whether it was carried out or rolled back completely."""
        return self._migration.is_finished

    def _prepare(self, difference: PlanDifference, old: PhysicalPlan) -> set[int]:
        """Copies checkpoints ahead, while all instances still run; gives the numbers of the instances they are for."""
        prepared, positions = set(), self._checkpoints.positions()
        for instance in difference.created:
            begun = replace(instance, start=("",) * len(self._blueprint.inputs_of(instance)))
            job = job_for(self._blueprint, begun, old, positions)
            if job is not None and job.can_begin_early:
                self._checkpoints.place_ahead(instance, job)
                prepared.add(instance.number)
        return prepared

    def _hold(self, difference: PlanDifference, new: PhysicalPlan) -> float:
        """Brings all retired instances to rest, upstream first; gives the time of the first order.

        Where a stream goes inside a fragment, its channel is emptied first: its producers rest, its readers read on.
        """
        application = self._blueprint.application
        heads = {instance.head for instance in new.instances}
        began, holding = time.monotonic(), list[list[Instance]]()
        for head, instances in self._by_fragment(difference.retired).items():
            if application.by_name[head].kind is Kind.SOURCE:
                self._operations.stop(instances)
                continue
            if head not in heads:
                self._come_to_rest(holding, joining=True)
                holding.clear()
                self._barriers.drain(instances)
            self._operations.hold(instances)
            holding.append(instances)
        self._come_to_rest(holding, joining=False)
        return began

    def _come_to_rest(self, fragments: Sequence[list[Instance]], *, joining: bool) -> None:
        """Awaits rest, and aligns instances whose state is merged, whose channel is emptied or that pass on event time.

        Aligned instances have read the same: their watermarks are equal, their output is complete up to one event
        time, and all have promised that time. If one had promised more, its successor would go on with that promise
        and take over rows of an instance that was behind: they would be late.
        """
        self._barriers.await_resting([one for instances in fragments for one in instances])
        for instances in fragments:
            stateful = any(self._blueprint.application.by_name[name].is_stateful for name in instances[0].operators)
            timed = any(channel.spec.event_time for channel in self._blueprint.outputs_of(instances[0]))
            if len(instances) > 1 and (stateful or joining or timed):
                self._barriers.align(instances)

    def _by_fragment(self, instances: Sequence[Instance]) -> dict[str, list[Instance]]:
        """In the order of flow."""
        flow = self._blueprint.application.flow
        found: dict[str, list[Instance]] = {}
        for instance in sorted(instances, key=lambda one: flow.index(one.head)):
            found.setdefault(instance.head, []).append(instance)
        return found

    def _settle_plan(self, difference: PlanDifference, old: PhysicalPlan, new: PhysicalPlan) -> PhysicalPlan:
        """The plan with the values that are known only now: start offsets, and the number of epochs so far."""
        created = {one.number for one in difference.created}
        positions = self._checkpoints.positions()
        instances = tuple(
            replace(one, start=positions.starts_of(one, old), epochs_before=self._operations.channels.last_epoch(one))
            if one.number in created
            else one
            for one in new.instances
        )
        return replace(new, instances=instances, parked=positions.parked_offsets(old, new))

    def _build(self, new: PhysicalPlan, old: PhysicalPlan, prepared: set[int]) -> None:
        """Builds the new checkpoints in parallel, each on the node of its instance."""
        jobs: list[tuple[Instance, StateJob]] = []
        known, positions = {one.number for one in old.instances}, self._checkpoints.positions()
        for instance in new.instances:
            if instance.number in known:
                continue
            job = job_for(self._blueprint, instance, old, positions)
            if instance.number not in prepared:
                self._checkpoints.remove(instance)
            if job is not None:
                jobs.append((instance, job))
        self._operations.in_parallel(lambda pair: self._checkpoints.build(*pair), jobs)

    def _roll_back(self, old: PhysicalPlan, difference: PlanDifference) -> None:
        self._note(Event.FAILED)
        self._checkpoints.discard(difference.created)
        # An instance that still runs is only released; one that was stopped starts again from its own checkpoint.
        running = self._operations.statuses()
        stopped = [
            one for one in difference.retired if running.get(one.name) is None or running[one.name].state != "running"
        ]
        for instance in stopped:
            self._operations.failover.node_of(instance).stop(instance.name)
        self._operations.release(difference.retired)
        self._operations.start(stopped)
        self._barriers.await_running(stopped)
        self._operations.keep_only(old)
        self._note(Event.RESTORED)

    def _note(self, event: Event, facts: dict[str, object] | None = None) -> None:
        """Journals a step; a step that could not be written was not taken."""
        after = self._migration.after(event)
        whole = {"change": self._number, "event": event.value, **(facts or {})}
        self._journal.append(Entry("change", time.time(), whole))  # type: ignore[arg-type]
        self._migration = after
