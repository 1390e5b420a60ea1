"""Cost of a period with k replicas: the one cost that learning, predictive and oracle policies minimise."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.quality.objective import weight_mistakes


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of reconfigurations, slow responses and resources; they sum to 1."""

    reconfiguration: float = 0.2
    """w_rcf."""
    performance: float = 0.4
    """w_perf."""
    resources: float = 0.4
    """w_res."""

    def __post_init__(self) -> None:
        """Rejects invalid weights, and weights that do not sum to 1."""
        named = {
            "reconfiguration": self.reconfiguration,
            "performance": self.performance,
            "resources": self.resources,
        }
        if found := weight_mistakes(named):
            raise InvalidModel("cost weights", found)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Weights from a document or a command line; those not given have their defaults."""
        names = [field.name for field in fields(cls)]
        found = []
        for name, value in given.items():
            if name not in names:
                found.append(Mistake(("weights", name), f"there is no weight {name!r}", did_you_mean(name, names)))
            elif isinstance(value, bool) or not isinstance(value, int | float):
                found.append(Mistake(("weights", name), f"{value!r} is not a number", "write a number from 0 to 1"))
        if found:
            raise InvalidModel("cost weights", found)
        return cls(**given)


def period_cost(weights: Weights, *, changed: bool, too_slow: bool, share_of_replicas: float) -> float:
    """c(s, a, s') = w_rcf 1{a≠0} + w_perf 1{R(k+a, λ') > R_max,op} + w_res (k+a) / K_max [EDF, eq. 1]."""
    return known_cost(weights, changed=changed, share_of_replicas=share_of_replicas) + weights.performance * too_slow


def known_cost(weights: Weights, *, changed: bool, share_of_replicas: float) -> float:
    """c_k(s, a): the part known before the period; the rest c_u(s') is the performance term [EDF, eq. 4]."""
    return weights.reconfiguration * changed + weights.resources * share_of_replicas


def change_price(weights: Weights, slowed: float) -> float:
    """Total price of a change: w_rcf, and w_perf for every period of an operator that it makes too slow.

    EDF's (1) has both terms; there the learner has to find out that the second follows from the first.
    """
    return weights.reconfiguration + weights.performance * slowed


def unknown_cost(weights: Weights, cost: float, *, changed: bool, share_of_replicas: float) -> float:
    """c_u,i = c_i - c_k(s, a): the cost of the period beyond the known part [EDF_5_2, eq. 3]."""
    return cost - known_cost(weights, changed=changed, share_of_replicas=share_of_replicas)
