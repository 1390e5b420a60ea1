"""The choice of the state job that gives a new instance its checkpoint: the cheapest way that fits."""

from collections.abc import Callable

from rheostat.model.graph.application import Kind
from rheostat.runtime.channels.records.key_groups import format_groups
from rheostat.runtime.checkpoints.capabilities import StateKind, StateWay, why_not
from rheostat.runtime.checkpoints.log_entries import NO_OFFSET
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan, state_groups
from rheostat.runtime.reconfigure.read_positions import ReadPositions


def job_for(blueprint: Blueprint, instance: Instance, old: PhysicalPlan, positions: ReadPositions) -> StateJob | None:
    """The job; None if the instance begins with an empty checkpoint."""
    application, total = blueprint.application, blueprint.settings.key_groups
    stateful = next((name for name in instance.operators if application.by_name[name].kind is Kind.STATEFUL), None)
    parents = _parents(blueprint, instance, old, stateful)
    is_source = application.by_name[instance.head].kind is Kind.SOURCE
    if stateful is None or not any(positions.source_offsets(parent) for parent in parents):
        return (
            _source_job(blueprint, instance, old, positions)
            if is_source
            else _sink_job(blueprint, instance, old, positions)
        )
    groups = state_groups(instance, total)
    way = "rebuild"
    if len(parents) == 1 and state_groups(parents[0], total) == groups:
        way = "copy" if parents[0].replicas == instance.replicas else "repartition"
    return StateJob(
        way,
        str(blueprint.checkpoint(instance)),
        tuple((str(blueprint.checkpoint(one)), format_groups(state_groups(one, total))) for one in parents),
        format_groups(groups),
        instance.replicas,
        application.by_name[stateful].key,
        total,
        positions.source_line(old.with_head(instance.head)) if is_source else instance.start,
        _source_checkpoint(blueprint, instance, old, positions) if is_source else "",
    )


def refusals(
    blueprint: Blueprint,
    old: PhysicalPlan,
    new: PhysicalPlan,
    state_kind: Callable[[Instance], StateKind | None],
) -> list[str]:
    """Reasons why the state of operators cannot be moved as a change needs it; nothing has been touched yet."""
    application, total, found = blueprint.application, blueprint.settings.key_groups, []
    for instance in new.instances:
        if any(instance.number == one.number for one in old.instances):
            continue
        for name in instance.operators:
            operator = application.by_name[name]
            if operator.kind is not Kind.STATEFUL:
                continue
            parents = _parents(blueprint, instance, old, name)
            whole = len(parents) == 1 and state_groups(parents[0], total) == state_groups(instance, total)
            way = StateWay.REBUILD if not whole else StateWay.RELOCATE
            if whole and parents[0].replicas != instance.replicas:
                way = StateWay.REPARTITION
            for parent in parents:
                kind = state_kind(parent)
                reason = None if kind is None else why_not(kind, way, operator.output_mode.value)
                if reason is not None:
                    found.append(f"operator {name}: {reason}")
    return sorted(set(found))


def _parents(blueprint: Blueprint, instance: Instance, old: PhysicalPlan, stateful: str | None) -> list[Instance]:
    if stateful is None:
        return []
    total = blueprint.settings.key_groups
    groups = state_groups(instance, total)
    return [one for one in old.with_operator(stateful) if state_groups(one, total) & groups]


def _source_job(
    blueprint: Blueprint, instance: Instance, old: PhysicalPlan, positions: ReadPositions
) -> StateJob | None:
    """The job of a source: it goes on at its position, also when the operators of its chain have changed."""
    before = _source_checkpoint(blueprint, instance, old, positions)
    if not before:
        return None
    target = str(blueprint.checkpoint(instance))
    return StateJob("offsets", target, ((before, "0"),), "0", instance.replicas, (), 1, (), before)


def _sink_job(blueprint: Blueprint, instance: Instance, old: PhysicalPlan, positions: ReadPositions) -> StateJob | None:
    """The job of a sink outside, which knows batches by number: a second batch 0 would be taken for a repetition."""
    if not blueprint.application.by_name[instance.head].is_foreign_sink:
        return None
    known = [one for one in old.with_head(instance.head) if positions.source_offsets(one) is not None]
    if not known:
        return None
    before, target = str(blueprint.checkpoint(known[0])), str(blueprint.checkpoint(instance))
    return StateJob("offsets", target, ((before, "0"),), "0", instance.replicas, (), 1, instance.start)


def _source_checkpoint(blueprint: Blueprint, instance: Instance, old: PhysicalPlan, positions: ReadPositions) -> str:
    """The checkpoint with which a source was read until now; "" if it was not read yet."""
    known = [one for one in old.with_head(instance.head) if positions.source_line([one]) != (NO_OFFSET,)]
    return str(blueprint.checkpoint(known[0])) if known else ""
