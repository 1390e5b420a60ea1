"""Downtime if only changed operators pause, move state through the DataStore and resume: appendix A.1 of EDRP."""

from dataclasses import dataclass
from math import isfinite

from rheostat.model.downtime.downtime_model import CurrentDeployment, pairs_of_nodes, transfer_seconds
from rheostat.model.graph.application import Operator
from rheostat.model.graph.deployment import Replicas
from rheostat.model.network.resources import Infrastructure


@dataclass(frozen=True, slots=True)
class PauseAndResume:
    """Downtime model in which only changed operators pause, and all others keep running."""

    sync_seconds: float = 0.25
    """t_syn: constant overhead of synchronising a reconfiguration [EDRP, Table II]."""

    def __post_init__(self) -> None:
        """Rejects an invalid duration."""
        if not (isfinite(self.sync_seconds) and self.sync_seconds >= 0):
            raise ValueError(f"sync_seconds must be finite and >= 0, got {self.sync_seconds}")

    def changed_seconds(self, situation: CurrentDeployment, operator: Operator, wanted: Replicas) -> float:
        """t_D = t_syn + t_{D,X}, X the kind of change [EDRP, eq. 25]."""
        current = situation.current[operator.name]
        return self.sync_seconds + slowest_exchange_seconds(situation.infrastructure, operator, current, wanted)

    def unchanged_seconds(self, situation: CurrentDeployment, operator: Operator) -> float:  # noqa: ARG002 - it does not wait
        """0: the operator is not paused."""
        return 0.0


def slowest_exchange_seconds(at: Infrastructure, operator: Operator, before: Replicas, after: Replicas) -> float:
    """t_{D,X} = max_{u,v} τ_{D,X}(i, u, v): exchanges run side by side [EDRP, eq. 26]."""
    return max(exchange_seconds(at, operator, (u, v), before, after) for u, v in pairs_of_nodes(before, after))


def exchange_seconds(
    at: Infrastructure, operator: Operator, pair: tuple[str, str], before: Replicas, after: Replicas
) -> float:
    """τ_{D,X} = max{code download if new on v, state upload from u} + state download to v + spawn [EDRP, eq. 27]."""
    u, v = pair
    code = code_download_seconds(at, operator, v) if before[v] == 0 else 0.0
    upload = state_upload_seconds(at, operator, u, before, after)
    download = state_download_seconds(at, operator, v, before, after)
    spawn = at.nodes[at.index[v]].spawn_seconds if after[v] > before[v] else 0.0
    return max(code, upload) + download + spawn


def code_download_seconds(at: Infrastructure, operator: Operator, v: str) -> float:
    """τ_C^dwl(i, v) = d_(v,DS) + I_{C,i} / r_(DS,v) + d_(DS,v) [EDRP, eq. 28]."""
    return transfer_seconds(at.store_round_trip_ms(v), operator.code_bytes, at.download_mbps(v))


def state_upload_seconds(at: Infrastructure, operator: Operator, u: str, before: Replicas, after: Replicas) -> float:
    """τ_S^upl = d_(u,DS) + I_S^upl / r_(u,DS) + d_(DS,u) [EDRP, eq. 29].

    Differs: nothing for a stateless operator, it has nothing to upload.
    """
    if not operator.is_stateful:
        return 0.0
    size = uploaded_bytes(operator, u, before, after)
    return transfer_seconds(at.store_round_trip_ms(u), size, at.upload_mbps(u))


def state_download_seconds(at: Infrastructure, operator: Operator, v: str, before: Replicas, after: Replicas) -> float:
    """τ_S^dwn = d_(v,DS) + I_S^dwn / r_(DS,v) + d_(DS,v) [EDRP, eq. 30].

    Differs: nothing for a stateless operator, it has nothing to download.
    """
    if not operator.is_stateful:
        return 0.0
    size = downloaded_bytes(operator, v, before, after)
    return transfer_seconds(at.store_round_trip_ms(v), size, at.download_mbps(v))


def uploaded_bytes(operator: Operator, u: str, before: Replicas, after: Replicas) -> float:
    """I_S^upl: the share of removed replicas, and on scale-out what the staying ones give away [EDRP, eq. 31].

    Differs: the second term has min{𝒰(u), 𝒱(u)} as (32) has, not 𝒰(u): a removed replica has given its state already,
    and only so are uploads equal to downloads.
    """
    removed, staying = max(before[u] - after[u], 0), min(before[u], after[u])
    return operator.state_bytes * (removed / len(before) + staying * _grown_share(before, after))


def downloaded_bytes(operator: Operator, v: str, before: Replicas, after: Replicas) -> float:
    """I_S^dwn: the share of added replicas, and on scale-in what the staying ones take over [EDRP, eq. 32]."""
    added, staying = max(after[v] - before[v], 0), min(before[v], after[v])
    return operator.state_bytes * (added / len(after) + staying * _grown_share(after, before))


def _grown_share(smaller: Replicas, larger: Replicas) -> float:
    """(|𝒱| - |𝒰|) / (|𝒰||𝒱|) = 1/|𝒰| - 1/|𝒱| if 𝒱 is larger: what one replica's share loses; else 0."""
    return max(len(larger) - len(smaller), 0) / (len(smaller) * len(larger))
