"""Knowledge given to planning policies: the latency curve of a replica and, for the oracle, the future rates."""

from dataclasses import fields
from typing import Any

import numpy as np

from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import PolicyFor
from rheostat.model.downtime.downtime_model import CurrentDeployment, downtime_seconds
from rheostat.model.graph.application import Operator
from rheostat.policies.contract.policy import OperatorPolicy
from rheostat.policies.policy_registry import OPERATOR_POLICIES, policy_named
from rheostat.simulation.queues.noise import RateNoise
from rheostat.simulation.queues.queue_formulas import Values
from rheostat.simulation.queues.server_layout import ServerLayout
from rheostat.simulation.queues.servers import Servers
from rheostat.simulation.studies.latency_curves import latency_curve
from rheostat.simulation.world.scenario import Scenario


def informed_policies(
    scenario: Scenario, settings: ControlSettings, until_seconds: float, seed: int
) -> PolicyFor | None:
    """Maker of policies that know the latency curve, and the future if they take it; None if they take neither."""
    kind = OPERATOR_POLICIES.get(settings.policy_name())
    takes = set() if kind is None else {field.name for field in fields(kind)}
    if "latency" not in takes:
        return None
    period = settings.manager_period()
    rates = period_rates(scenario, seed, period, int(until_seconds / period)) if "rates_tps" in takes else {}

    def policy_for(operator: Operator) -> OperatorPolicy[Any]:
        own: dict[str, Any] = {"latency": latency_curve(operator, scenario.behaviours.get(operator.name))}
        if operator.name in settings.latency_bounds_ms:
            own["latency_bound_ms"] = settings.latency_bounds_ms[operator.name]
        if "slowed_by_a_change" in takes:
            own["slowed_by_a_change"] = slowed_by_a_change(scenario, settings, operator)
        if rates:
            own |= _future(scenario, operator, rates[operator.name], period)
        policy: Any = policy_named(settings.policy_name(), {**own, **settings.options})
        return policy  # type: ignore[no-any-return]

    return policy_for


def slowed_by_a_change(scenario: Scenario, settings: ControlSettings, operator: Operator) -> int:
    """Number of elastic operators that become too slow for a period if this one gets one more replica.

    An operator paused for t of a period T, with even arrivals, makes its tuples wait t²/2T on average.
    """
    current = scenario.deployment
    node = next(iter(current[operator.name]))
    situation = CurrentDeployment(scenario.application, scenario.infrastructure, current)
    wanted = current.having(operator.name, current[operator.name].plus(node))
    whole = downtime_seconds(scenario.downtime, situation, wanted)
    found = 0
    for each in scenario.application.operators:
        bound = settings.latency_bounds_ms.get(each.name)
        stands = each is operator or scenario.downtime.unchanged_seconds(situation, each) > 0
        if bound is None or each.max_replicas == each.min_replicas or not stands:
            continue
        found += 1000 * whole**2 / (2 * settings.manager_period()) > bound
    return found


def _future(scenario: Scenario, operator: Operator, rates: Values, period_seconds: float) -> dict[str, Any]:
    """Future rates of an operator, its start and its bounds."""
    return {
        "rates_tps": tuple(rates.tolist()),
        "period_seconds": period_seconds,
        "start_replicas": len(scenario.deployment[operator.name]),
        "min_replicas": operator.min_replicas,
        "max_replicas": operator.max_replicas,
    }


def period_rates(scenario: Scenario, seed: int, period_seconds: float, periods: int) -> dict[str, Values]:
    """Mean input rate of every operator in period 0, 1, ..., including noise, if everything is served."""
    per_period = max(1, round(period_seconds / scenario.step_seconds))
    edges: Values = np.arange(periods * per_period + 1, dtype=float) * scenario.step_seconds
    factors = RateNoise(scenario.noise, scenario.step_seconds, seed).factors(0, len(edges) - 1)
    brought = np.diff(scenario.workload.tuples_until(edges)) * factors
    sources = brought.reshape(periods, per_period).sum(axis=1) / (per_period * scenario.step_seconds)
    servers = Servers(scenario.application.operators, scenario.behaviours)
    slope, constant, *_ = ServerLayout(
        scenario.application, scenario.infrastructure, scenario.deployment, servers
    ).gains
    arrived = slope * sources + constant
    return {operator.name: arrived[i] for i, operator in enumerate(scenario.application.operators)}
