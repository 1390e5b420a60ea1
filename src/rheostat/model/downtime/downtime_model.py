"""Downtime models: how long an application stands still during a reconfiguration.

A downtime model gives the downtime of one operator; the application waits for the slowest, since operators are
reconfigured in parallel. `pause_and_resume` is appendix A.1 of EDRP, `full_restart` its appendix A.2, and
`measured_pauses` uses downtimes measured at runtime.
"""

from dataclasses import dataclass
from typing import Protocol

from rheostat.errors import InvalidModel
from rheostat.model.graph.application import Application, Operator
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.resources import Infrastructure


@dataclass(frozen=True, slots=True)
class CurrentDeployment:
    """A running deployment with its application and infrastructure: the 𝒰_{0,i} of EDRP."""

    application: Application
    infrastructure: Infrastructure
    current: Deployment

    def __post_init__(self) -> None:
        """Rejects a deployment that does not fit the application or the infrastructure."""
        if found := self.current.mistakes(self.application, self.infrastructure.index):
            raise InvalidModel("current deployment", found)


class DowntimeModel(Protocol):
    """Time for which a reconfiguration pauses an operator."""

    def changed_seconds(self, situation: CurrentDeployment, operator: Operator, wanted: Replicas) -> float:
        """t_D(i, 𝒰_{0,i}, 𝒱) for an operator whose deployment changes."""
        ...

    def unchanged_seconds(self, situation: CurrentDeployment, operator: Operator) -> float:
        """Pause of an operator that is not changed, if any other is."""
        ...


def operator_downtime_seconds(
    model: DowntimeModel, situation: CurrentDeployment, operator: str, wanted: Replicas
) -> float:
    """T_{D,i} = Σ_𝒱 t_D(i, 𝒰_{0,i}, 𝒱) x_{i,𝒱}: the term of the chosen 𝒱, 0 if it stays [EDRP, eq. 11, 24]."""
    if situation.current[operator] == wanted:
        return 0.0
    return model.changed_seconds(situation, situation.application.by_name[operator], wanted)


def downtime_seconds(model: DowntimeModel, situation: CurrentDeployment, wanted: Deployment) -> float:
    """T_D = max_i T_{D,i}: the slowest operator [EDRP, eq. 10], with the restart of all others [EDRP, eq. 33]."""
    if not Reconfiguration.between(situation.current, wanted):
        return 0.0
    operators = situation.application.operators
    return max(
        max(
            operator_downtime_seconds(model, situation, operator.name, wanted[operator.name]),
            model.unchanged_seconds(situation, operator),
        )
        for operator in operators
    )


def transfer_seconds(round_trip_ms: float, size_bytes: float, rate_mbps: float) -> float:
    """A request, its data, and the way back: d + I / r + d, the common form of EDRP (28)-(30) and (36)-(38)."""
    return round_trip_ms / 1000 + size_bytes * 8 / (rate_mbps * 1e6)


def pairs_of_nodes(before: Replicas, after: Replicas) -> list[tuple[str, str]]:
    """All u ∈ 𝒰, v ∈ 𝒱 with u ≠ v that exchange data [EDRP, eq. 26, 34].

    Differs: for {a} -> {a,a} the printed set is empty; then u = v is allowed.
    """
    pairs = [(u, v) for u in before for v in after]
    return [(u, v) for u, v in pairs if u != v] or pairs
