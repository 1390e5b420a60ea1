"""Registry of policies by name; builds them from plain options and reports every mistake at once."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.policies.contract.policy import ApplicationPolicy, OperatorPolicy
from rheostat.policies.grants.grants import GrantAll
from rheostat.policies.grants.token_bucket import TokenBucket
from rheostat.policies.operators.doubling import Doubling
from rheostat.policies.operators.flink import Flink
from rheostat.policies.operators.hold import Hold
from rheostat.policies.operators.linear import Linear
from rheostat.policies.operators.model_based import ModelBased
from rheostat.policies.operators.oracle import Oracle
from rheostat.policies.operators.period_cost import Weights
from rheostat.policies.operators.predictive import Predictive
from rheostat.policies.operators.q_learning import QLearning
from rheostat.policies.operators.threshold import Threshold
from rheostat.policies.operators.true_rate import TrueRate

OPERATOR_POLICIES: Mapping[str, type] = {
    policy.name: policy for policy in (Hold, Threshold, Linear, QLearning, ModelBased, Predictive, Oracle)
}
"""Policies for one operator."""
APPLICATION_POLICIES: Mapping[str, type] = {policy.name: policy for policy in (Doubling, TrueRate, Flink)}
"""Policies for a whole application."""
GRANTING: Mapping[str, type] = {policy.name: policy for policy in (GrantAll, TokenBucket)}
"""Granting policies."""
POLICIES: Mapping[str, type] = {**OPERATOR_POLICIES, **APPLICATION_POLICIES}


def policy_named(name: str, options: Mapping[str, Any] | None = None) -> OperatorPolicy[Any] | ApplicationPolicy[Any]:
    """The policy of that name with those settings; all mistakes in them are reported at once.

    >>> policy_named("threshold", {"scale_out": 0.4})
    Threshold(scale_out=0.4, slack=0.75)
    """
    if found := mistakes_of(name, options or {}, POLICIES, ("policy",)):
        raise InvalidModel("policy", found)
    built: OperatorPolicy[Any] | ApplicationPolicy[Any] = POLICIES[name](**_typed(options or {}))
    return built


def mistakes_of(
    name: str, options: Mapping[str, Any], known: Mapping[str, type], where: tuple[str | int, ...]
) -> list[Mistake]:
    """Mistakes in a policy's name or settings."""
    kind = known.get(name)
    if kind is None:
        return [Mistake((*where, "name"), f"there is no policy {name!r}", did_you_mean(name, known))]
    settings = {field.name for field in fields(kind)}
    unknown = [option for option in options if option not in settings]
    found = [
        Mistake((*where, option), f"{name} has no setting {option!r}", did_you_mean(option, settings))
        for option in unknown
    ]
    try:
        kind(**_typed({option: value for option, value in options.items() if option in settings}))
    except InvalidModel as wrong:
        found += [Mistake((*where, *mistake.where), mistake.what, mistake.remedy) for mistake in wrong.mistakes]
    except (ValueError, TypeError) as wrong:
        found.append(Mistake(where, str(wrong)))
    return found


def _typed(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with weights as a value; documents contain them as a mapping."""
    weights = options.get("weights")
    return {**options, "weights": Weights.of(weights)} if isinstance(weights, Mapping) else dict(options)
