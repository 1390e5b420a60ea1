"""Puts the managers of one application together, from settings and the parts of a world."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

from rheostat.control.knowledge.averages import Averages
from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.knowledge.profile import Profile
from rheostat.control.loop.loop_schedule import Loop
from rheostat.control.loop.ports import Actuator, Clock, EntryLog, NodeProvider, Probe
from rheostat.control.managers.application_manager import ApplicationManager
from rheostat.control.managers.elasticity_manager import ElasticityManager
from rheostat.control.managers.fusion_guard import FusionGuard
from rheostat.control.managers.infrastructure_manager import InfrastructureManager
from rheostat.control.managers.node_manager import NodeManagers
from rheostat.control.managers.operator_manager import Local, OperatorManager
from rheostat.control.managers.planned_manager import PlannedManager
from rheostat.control.managers.region_manager import RegionManager
from rheostat.control.managers.request_inbox import Inbox, Requests
from rheostat.control.setup.control_settings import DEFAULTS, PLACEMENTS, PLANNED, VICTIMS, ControlSettings
from rheostat.control.setup.dry_run import Untouched
from rheostat.errors import InvalidModel, Mistake
from rheostat.model.downtime.downtime_model import DowntimeModel
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.model.graph.application import Application, Operator
from rheostat.model.quality.objective import Objective
from rheostat.planning.contract.planner import Planner
from rheostat.planning.contract.problem import Limits
from rheostat.policies.contract.guards import Guarded, GuardedApplication
from rheostat.policies.contract.policy import ApplicationPolicy, OperatorPolicy
from rheostat.policies.grants.grants import DryRun, Granting, Quota
from rheostat.policies.nodes.node_migration import NodeMigration
from rheostat.policies.nodes.region_grants import AcceptUnlessOccupied
from rheostat.policies.nodes.region_size import TargetCapacity
from rheostat.policies.policy_registry import APPLICATION_POLICIES, GRANTING, policy_named

LEAD_SECONDS = 1.0
"""Managers on the nodes decide so long before the application manager looks at what they ask for."""

PolicyFor = Callable[[Operator], OperatorPolicy[Any]]
"""A policy for each operator: an oracle that knows its trace, say, or a learned one."""


@dataclass(frozen=True)
class World:
    """The parts that managers are put on."""

    application: Application
    probe: Probe
    actuator: Actuator
    clock: Clock
    journal: EntryLog
    provider: NodeProvider | None = None
    """Source of further nodes; without one the nodes stay as they are."""
    profile: Profile | None = None
    """Profile of the application for planners; without one they use declared values."""
    requests: Requests | None = None
    """Requests of local managers on the nodes; without it local managers are built here."""
    fuses: bool = False
    """Whether neighbours with the same deployment run in one query and share its time."""


@dataclass(frozen=True)
class Planning:
    """Parts of a planned control."""

    planner: Planner
    objective: Objective
    downtime: DowntimeModel = field(default_factory=PauseAndResume)
    limits: Limits = Limits()
    hop_ms: float = 0.0
    starts_as_a_guess: bool = True
    """Whether the first plan may change everything without counting the downtime [EDRP 6.2]."""


@dataclass(frozen=True)
class Control:
    """The managers of one application, and their loops in the order in which they act at the same moment."""

    loops: tuple[Loop, ...]
    state: ApplicationState
    operators: tuple[OperatorManager, ...] = ()
    application: ApplicationManager | None = None
    planned: PlannedManager | None = None
    regions: tuple[RegionManager, ...] = ()
    infrastructure: InfrastructureManager | None = None
    nodes: NodeManagers | None = None


def build(
    settings: ControlSettings, world: World, planning: Planning | None = None, policy_for: PolicyFor | None = None
) -> Control:
    """The control these settings describe; all mistakes in them are reported at once.

    `policy_for` takes the place of the policy named in the settings.
    """
    found = settings.mistakes(world.application)
    if settings.kind in PLANNED and planning is None:
        found.append(Mistake(("kind",), f"{settings.kind} needs a planner and an objective", "give both"))
    if found:
        raise InvalidModel("control settings", found)
    if settings.dry_run:
        world = replace(world, actuator=Untouched())
    state = state_on(settings, world.application, world.probe)
    if settings.warm_up_seconds > 0:
        state.settle(world.clock.now_seconds() + settings.warm_up_seconds)
    if settings.kind == "none":
        return Control((), state)
    if planning is not None and settings.kind in PLANNED:
        return _planned(settings, world, state, planning)
    return _managed(settings, world, state, policy_for)


def state_on(settings: ControlSettings, application: Application, probe: Probe) -> ApplicationState:
    """State of an application for managers with these settings."""
    return ApplicationState(
        application,
        Averages(probe, settings.averaging_seconds),
        settings.neighbours,
        by_region=settings.kind == "e2df",
        response_figure=settings.response_figure,
    )


def has_local_managers(settings: ControlSettings) -> bool:
    """Whether operators are looked after one by one."""
    return settings.kind in {"edf", "e2df"} and settings.policy_name() not in APPLICATION_POLICIES


def _planned(settings: ControlSettings, world: World, state: ApplicationState, planning: Planning) -> Control:
    manager = PlannedManager(
        planning.planner,
        state,
        world.actuator,
        world.clock,
        world.journal,
        planning.objective,
        planning.downtime,
        planning.limits,
        planning.hop_ms,
        settings.manager_period(),
        settle_seconds=settings.settle_seconds,
        every_period=settings.kind == "s-edrp",
        keeps_degrees=settings.kind == "s-odp",
        starts_as_a_guess=planning.starts_as_a_guess,
        profile=world.profile,
    )
    return Control((manager,), state, planned=manager)


def _managed(settings: ControlSettings, world: World, state: ApplicationState, policy_for: PolicyFor | None) -> Control:
    inbox, local, period = Inbox(), _local(settings), settings.manager_period()
    whole = policy_for is None and settings.policy_name() in APPLICATION_POLICIES
    elsewhere = world.requests is not None
    operators = () if whole or elsewhere else _operator_managers(settings, world, state, inbox, policy_for)
    manager = ApplicationManager(
        state,
        inbox if world.requests is None else world.requests,
        world.actuator,
        world.clock,
        world.journal,
        _granting(settings),
        _application_policy(settings) if whole else None,
        local,
        period,
        LEAD_SECONDS if elsewhere else 0.0,
        settle_seconds=settings.settle_seconds,
        settles_alone=settings.settles_alone,
        crowding=FusionGuard(world.application, state.busy_replicas, settings.most_together) if world.fuses else None,
    )
    nodes = None if elsewhere else node_managers(settings, state, inbox, world.journal)
    central = ElasticityManager([manager], period) if settings.kind == "elastic-storm" else manager
    regions, infrastructure = infrastructure_managers(settings, world, (manager,))
    # Regions and nodes first: the nodes they hide are left out by managers that act afterwards.
    first: list[Loop] = [*regions, *([infrastructure] if infrastructure else [])]
    loops = (*first, *operators, *([nodes] if nodes else []), central)
    return Control(loops, state, tuple(operators), manager, None, tuple(regions), infrastructure, nodes)


def _local(settings: ControlSettings) -> Local:
    _, placement, victims, _ = DEFAULTS[settings.kind]
    return Local(PLACEMENTS[settings.placement or placement], VICTIMS[settings.victims or victims], settings.seed)


def _operator_managers(
    settings: ControlSettings, world: World, state: ApplicationState, inbox: Inbox, policy_for: PolicyFor | None
) -> tuple[OperatorManager, ...]:
    """One for every operator that can be scaled at all."""
    managers = []
    for operator in world.application.operators:
        if can_be_scaled(operator):
            policy = None if policy_for is None else policy_for(operator)
            managers.append(operator_manager(settings, operator, state, inbox, world.journal, policy=policy))
    return tuple(managers)


def scaling_policies(settings: ControlSettings, application: Application) -> dict[str, OperatorPolicy[Any]]:
    """Operator -> the policy its manager has; for every operator that can be scaled at all."""
    scaled = [operator for operator in application.operators if can_be_scaled(operator)]
    return {operator.name: _guarded(settings, operator_policy(settings, operator)) for operator in scaled}


def _guarded(settings: ControlSettings, policy: OperatorPolicy[Any]) -> OperatorPolicy[Any]:
    guards = settings.guards()
    return Guarded(policy, guards) if guards else policy


def can_be_scaled(operator: Operator) -> bool:
    """Whether an operator may have more or fewer replicas at all."""
    return operator.max_replicas != operator.min_replicas


def operator_manager(
    settings: ControlSettings,
    operator: Operator,
    state: ApplicationState,
    inbox: Requests,
    journal: EntryLog,
    *,
    policy: OperatorPolicy[Any] | None = None,
) -> OperatorManager:
    """The manager of one operator; with the policy of the settings unless one is given."""
    return OperatorManager(
        operator.name,
        _guarded(settings, policy or operator_policy(settings, operator)),
        state,
        inbox,
        journal,
        _local(settings),
        settings.manager_period(),
        memory_every=settings.memory_every,
    )


def node_managers(
    settings: ControlSettings, state: ApplicationState, inbox: Requests, journal: EntryLog, only: str | None = None
) -> NodeManagers | None:
    """A manager for every node, or only for one; None if they shall not move anything."""
    if not settings.migrations:
        return None
    policy = NodeMigration(settings.migration_threshold, _local(settings).placement, settings.seed)
    return NodeManagers(policy, state, inbox, journal, settings.manager_period(), only=only)


def operator_policy(settings: ControlSettings, operator: Operator) -> OperatorPolicy[Any]:
    """The policy of one operator: with its own latency bound and the common seed, where it has such settings."""
    policy = cast("Any", policy_named(settings.policy_name(), settings.options))
    has = {each.name for each in fields(policy)}
    own: dict[str, Any] = {}
    if "latency_bound_ms" in has and operator.name in settings.latency_bounds_ms:
        own["latency_bound_ms"] = settings.latency_bounds_ms[operator.name]
    if "seed" in has and "seed" not in settings.options:
        own["seed"] = settings.seed
    return cast("OperatorPolicy[Any]", replace(policy, **own) if own else policy)


def _application_policy(settings: ControlSettings) -> ApplicationPolicy[Any]:
    policy = cast("ApplicationPolicy[Any]", policy_named(settings.policy_name(), settings.options))
    guards = settings.guards()
    return GuardedApplication(policy, guards) if guards else policy


def _granting(settings: ControlSettings) -> Granting[Any]:
    granting: Granting[Any] = GRANTING[settings.granting](**settings.granting_options)
    if settings.quota_replicas is not None:
        granting = Quota(settings.quota_replicas, granting)
    return DryRun(granting) if settings.dry_run else granting


def infrastructure_managers(
    settings: ControlSettings, world: World, managers: Sequence[ApplicationManager]
) -> tuple[Sequence[RegionManager], InfrastructureManager | None]:
    """The infrastructure half of E2DF over all applications on these nodes, if nodes can be had."""
    if settings.kind != "e2df" or world.provider is None:
        return (), None
    policy = TargetCapacity(settings.free_capacity, settings.low_utilization)
    names = sorted({node.region for node in world.probe.infrastructure().nodes})
    regions = [
        RegionManager(
            name,
            policy,
            [manager.state for manager in managers],
            world.provider,
            world.journal,
            period_seconds=settings.region_period_seconds,
        )
        for name in names
    ]
    accepting = AcceptUnlessOccupied(
        frozenset(settings.inhibited_regions), settings.max_nodes, settings.vacate_seconds, settings.dry_run
    )
    central = InfrastructureManager(regions, managers, world.journal, accepting, settings.region_period_seconds)
    return regions, central
