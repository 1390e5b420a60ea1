"""Downtime on an engine that restarts everything after any change, as Storm does: appendix A.2 of EDRP."""

from dataclasses import dataclass
from math import isfinite

from rheostat.model.downtime.downtime_model import CurrentDeployment, pairs_of_nodes, transfer_seconds
from rheostat.model.graph.application import Operator
from rheostat.model.graph.deployment import Replicas


@dataclass(frozen=True, slots=True)
class FullRestart:
    """Downtime model in which every operator saves, restarts and restores, changed or not [EDRP, eq. 33]."""

    sync_seconds: float = 6.0
    """t_syn, measured on the prototype [EDRP 7.3]."""

    def __post_init__(self) -> None:
        """Rejects an invalid duration."""
        if not (isfinite(self.sync_seconds) and self.sync_seconds >= 0):
            raise ValueError(f"sync_seconds must be finite and >= 0, got {self.sync_seconds}")

    def changed_seconds(self, situation: CurrentDeployment, operator: Operator, wanted: Replicas) -> float:
        """t_D = t_syn + max_{u,v} τ_D(i, u, v, 𝒰, 𝒱) [EDRP, eq. 34]."""
        pairs = pairs_of_nodes(situation.current[operator.name], wanted)
        return self.sync_seconds + max(serial_exchange_seconds(situation, operator, pair, wanted) for pair in pairs)

    def unchanged_seconds(self, situation: CurrentDeployment, operator: Operator) -> float:
        """t_{D,R} = t_syn + max_{u ∈ 𝒰} τ_{D,R}(i, u, 𝒰) [EDRP, eq. 39]."""
        nodes = situation.current[operator.name]
        return self.sync_seconds + max(local_restart_seconds(situation, operator, u) for u in nodes)


def serial_exchange_seconds(
    situation: CurrentDeployment, operator: Operator, pair: tuple[str, str], wanted: Replicas
) -> float:
    """τ_D = code if v runs nothing yet + upload + download + 𝒱(v) t_{s,v}: one after the other [EDRP, eq. 35]."""
    (u, v), at = pair, situation.infrastructure
    code = topology_download_seconds(situation, v) if v not in situation.current.nodes() else 0.0
    upload = whole_upload_seconds(situation, operator, u)
    download = whole_download_seconds(situation, operator, v, wanted)
    return code + upload + download + wanted[v] * at.nodes[at.index[v]].spawn_seconds


def topology_download_seconds(situation: CurrentDeployment, v: str) -> float:
    """τ_C^dwl = d_(v,DS) + Σ_i I_{C,i} / r_(DS,v) + d_(DS,v): the code comes as one archive [EDRP, eq. 36]."""
    at = situation.infrastructure
    size = sum(operator.code_bytes for operator in situation.application.operators)
    return transfer_seconds(at.store_round_trip_ms(v), size, at.download_mbps(v))


def whole_upload_seconds(situation: CurrentDeployment, operator: Operator, u: str) -> float:
    """τ_S^upl with I_{S,i} 𝒰(u) / |𝒰|: all replicas on u save [EDRP, eq. 37].

    Differs: nothing for a stateless operator.
    """
    if not operator.is_stateful:
        return 0.0
    at, before = situation.infrastructure, situation.current[operator.name]
    size = operator.state_bytes * before[u] / len(before)
    return transfer_seconds(at.store_round_trip_ms(u), size, at.upload_mbps(u))


def whole_download_seconds(situation: CurrentDeployment, operator: Operator, v: str, wanted: Replicas) -> float:
    """τ_S^dwn with I_{S,i} 𝒱(v) / |𝒱|: all replicas on v restore [EDRP, eq. 38].

    Differs: nothing for a stateless operator.
    """
    if not operator.is_stateful:
        return 0.0
    at = situation.infrastructure
    size = operator.state_bytes * wanted[v] / len(wanted)
    return transfer_seconds(at.store_round_trip_ms(v), size, at.download_mbps(v))


def local_restart_seconds(situation: CurrentDeployment, operator: Operator, u: str) -> float:
    """τ_{D,R} = save to and load from the local store + 𝒰(u) t_{s,u} [EDRP, eq. 40].

    Differs: the printed t_{s,v} is t_{s,u}, there is no v; no state is saved or loaded for a stateless operator.
    """
    at, current = situation.infrastructure, situation.current[operator.name]
    size = operator.state_bytes * current[u] / len(current)
    swap = 2 * transfer_seconds(0.0, size, at.store.local_mbps)
    return swap + current[u] * at.nodes[at.index[u]].spawn_seconds
