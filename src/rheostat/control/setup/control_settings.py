"""Settings of the control of an application, with the papers' defaults; all mistakes are reported at once."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from math import isfinite
from typing import Any

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.graph.application import Application
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.policies.contract.guards import Confirmation, CoolDown, ExcludedPeriods, Guard, ReplicaBounds
from rheostat.policies.nodes.node_migration import NodeMigration
from rheostat.policies.nodes.region_grants import AcceptUnlessOccupied
from rheostat.policies.nodes.region_size import TargetCapacity
from rheostat.policies.policy_registry import GRANTING, POLICIES, mistakes_of
from rheostat.policies.replicas.placement import LeastUsed, NearerIsLikelier, Placement, StayTogether
from rheostat.policies.replicas.victims import FewestMoved, OneOfTheTwoBusiest, OnTheMostUsedNode, VictimChoice

KINDS: Mapping[str, str] = {
    "edf": "local managers, token bucket optional [EDF]",
    "e2df": "local managers and elastic nodes [E2DF]",
    "s-edrp": "a planner of replication and placement in every period [EDRP]",
    "s-odp": "a planner of placement on first rates and lost nodes [ODP]",
    "elastic-storm": "one central manager that doubles and halves [Elastic Storm]",
    "none": "nothing is ever changed",
}
PLANNED = frozenset({"s-edrp", "s-odp"})
PLACEMENTS: Mapping[str, Placement] = {way.name: way for way in (NearerIsLikelier(), LeastUsed(), StayTogether())}
VICTIMS: Mapping[str, VictimChoice] = {
    way.name: way for way in (OnTheMostUsedNode(), OneOfTheTwoBusiest(), FewestMoved())
}
DEFAULTS: Mapping[str, tuple[str, str, str, float]] = {
    "edf": ("threshold", "nearer-is-likelier", "most-used-node", 30.0),
    "e2df": ("threshold", "least-used", "two-busiest", 30.0),
    "s-edrp": ("hold", "least-used", "two-busiest", 60.0),
    "s-odp": ("hold", "least-used", "two-busiest", 60.0),
    "elastic-storm": ("doubling", "stay-together", "fewest-moved", 10.0),
    "none": ("hold", "least-used", "two-busiest", 30.0),
}
"""Per kind: policy, placement, victims, and the period of its manager in seconds."""


LEAST_AVERAGING_SECONDS = 4.0
"""A few micro-batches."""


def averaging_over(period_seconds: float) -> float:
    """Averaging time of a manager that decides once in a period: half of the period.

    So a rate that has jumped is seen whole at the next decision. The period in which it jumps begins before that shows:
    averaged over all of it, 60 tuples a second looked like 49, and a replica that can do 50 was left alone.
    """
    return max(period_seconds / 2, min(period_seconds, LEAST_AVERAGING_SECONDS))


@dataclass(frozen=True)
class ControlSettings:
    """Everything a person can set; what is None is what the paper of that kind says."""

    kind: str = "edf"
    policy: str | None = None
    """Name of the scaling policy."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the policy."""
    granting: str = "all"
    """Name of the global policy."""
    granting_options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the global policy."""
    placement: str | None = None
    """Placement of a new replica."""
    victims: str | None = None
    """Choice of the replica that is removed."""
    period_seconds: float | None = None
    """Period of operator and application managers, of the elasticity manager, or of the planner."""
    region_period_seconds: float = 60.0
    """Period of region and infrastructure managers."""
    averaging_seconds: float = 30.0
    """Window over which figures are averaged."""
    warm_up_seconds: float = 0.0
    """Time after the start in which nothing is proposed and no measurement counts."""
    settle_seconds: float = 30.0
    """Time after a change in which nothing is proposed and no measurement counts."""
    settles_alone: bool = False
    """Whether only the changed operators have to settle."""
    response_figure: str = "response_mean_ms"
    """Response time that the global policy uses."""
    latency_bounds_ms: Mapping[str, float] = field(default_factory=dict)
    """R_max,op of single operators, for policies that have a latency bound."""
    neighbours: int = 16
    """Number of nearest nodes that a local manager knows."""
    migrations: bool = False
    """Whether node managers move replicas away from busy nodes; off in EDF's experiments."""
    migration_threshold: float = 0.8
    """U_mig."""
    free_capacity: int = 5
    """C_r: replicas for which a region keeps room."""
    low_utilization: float = 0.1
    """U_low,r: nodes that are not busier are under-used."""
    vacate_seconds: float = 300.0
    """Time that an application has to leave a node."""
    max_nodes: int | None = None
    """Limit of nodes in all regions together."""
    inhibited_regions: tuple[str, ...] = ()
    """Regions that get no nodes."""
    bounds: tuple[int, int] | None = None
    """Least and most replicas of every operator, beside its own."""
    cool_down_seconds: tuple[float, float] | None = None
    """Cool-down before a scale-out and before a scale-in."""
    confirmations: int = 1
    """Number of times in a row that a change must be proposed."""
    excluded_periods: tuple[tuple[float, float], ...] = ()
    """Periods without changes: from and to, in seconds of the day."""
    quota_replicas: int | None = None
    """Limit of replicas in the whole application."""
    most_together: float = 0.7
    """Limit of the utilization of a query that scaled-in operators share."""
    dry_run: bool = False
    """Recommend without acting."""
    memory_every: int = 0
    """Steps between two journal entries of a learned memory; 0 for never."""
    seed: int = 0

    def policy_name(self) -> str:
        """The one that is set, or the paper's."""
        return self.policy or DEFAULTS[self.kind][0]

    def manager_period(self) -> float:
        """The one that is set, or the paper's."""
        return DEFAULTS[self.kind][3] if self.period_seconds is None else self.period_seconds

    def guards(self) -> tuple[Guard, ...]:
        """Guards that are set, the bounds nearest to the policy."""
        found: list[Guard] = []
        if self.bounds is not None:
            found.append(ReplicaBounds(*self.bounds))
        if self.confirmations != 1:
            found.append(Confirmation(self.confirmations))
        if self.cool_down_seconds is not None:
            found.append(CoolDown(*self.cool_down_seconds))
        if self.excluded_periods:
            found.append(ExcludedPeriods(self.excluded_periods))
        return tuple(found)

    def check(self, application: Application) -> None:
        """Refuses settings that cannot be, all mistakes at once."""
        if found := self.mistakes(application):
            raise InvalidModel("control settings", found)

    def mistakes(self, application: Application) -> list[Mistake]:
        """Everything that is wrong with them for this application."""
        if self.kind not in KINDS:
            return [Mistake(("kind",), f"there is no kind of control {self.kind!r}", did_you_mean(self.kind, KINDS))]
        found = mistakes_of(self.policy_name(), self.options, POLICIES, ("policy",))
        if self.kind in PLANNED and self.policy is not None:
            found.append(Mistake(("policy",), f"{self.kind} asks a planner, not a policy", "leave out the policy"))
        found += mistakes_of(self.granting, self.granting_options, GRANTING, ("granting",))
        for name, known in (("placement", PLACEMENTS), ("victims", VICTIMS)):
            chosen = getattr(self, name)
            if chosen is not None and chosen not in known:
                found.append(Mistake((name,), f"there is no way {chosen!r}", did_you_mean(chosen, known)))
        found += self._bad_durations() + self._bad_parts()
        for operator, bound in self.latency_bounds_ms.items():
            where = ("latency_bounds_ms", operator)
            if operator not in application.by_name:
                remedy = did_you_mean(operator, application.by_name)
                found.append(Mistake(where, f"there is no operator {operator!r}", remedy))
            if not bound > 0:
                found.append(Mistake(where, f"{bound} is not a number > 0", "write milliseconds > 0"))
        return found

    def _bad_durations(self) -> list[Mistake]:
        found = []
        for name in ("period_seconds", "region_period_seconds", "averaging_seconds"):
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and value > 0):
                found.append(Mistake((name,), f"{value} is not a finite number > 0", "write seconds > 0"))
        for name in ("warm_up_seconds", "settle_seconds"):
            value = getattr(self, name)
            if not (isfinite(value) and value >= 0):
                found.append(Mistake((name,), f"{value} is not a finite number >= 0", "write seconds >= 0"))
        return found

    def _bad_parts(self) -> list[Mistake]:
        """Mistakes that the parts themselves report, each in one line."""
        found = []
        for where, make in (
            ("migration_threshold", lambda: NodeMigration(self.migration_threshold)),
            ("free_capacity", lambda: TargetCapacity(self.free_capacity, self.low_utilization)),
            ("vacate_seconds", lambda: AcceptUnlessOccupied(frozenset(), self.max_nodes, self.vacate_seconds)),
            ("guards", self.guards),
        ):
            try:
                make()
            except (ValueError, TypeError) as wrong:
                found.append(Mistake((where,), str(wrong)))
        if self.quota_replicas is not None and self.quota_replicas < 1:
            found.append(Mistake(("quota_replicas",), f"{self.quota_replicas} is below 1", "write at least 1"))
        if not (isfinite(self.most_together) and self.most_together > 0):
            found.append(Mistake(("most_together",), f"{self.most_together} is not a number > 0", "write 0.7, say"))
        if self.neighbours < 1:
            found.append(Mistake(("neighbours",), f"{self.neighbours} is below 1", "write at least 1"))
        return found


def settings_to_plain(settings: ControlSettings) -> dict[str, Any]:
    """Control settings as a document."""
    return asdict(settings)


def settings_from_plain(plain: Mapping[str, Any]) -> ControlSettings:
    """Control settings from a document; a setting that this version does not know is ignored."""
    known = {each.name for each in fields(ControlSettings)}
    given = {name: _tupled(value) for name, value in plain.items() if name in known}
    return ControlSettings(**given)


def _tupled(value: Any) -> Any:
    return tuple(_tupled(each) for each in value) if isinstance(value, list) else value
