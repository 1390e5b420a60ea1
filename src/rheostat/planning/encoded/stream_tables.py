"""Costs and delays of a stream between two deployments, as tables over all pairs of candidates."""

from dataclasses import dataclass

import numpy as np

from rheostat.planning.encoded.candidates import Candidates
from rheostat.planning.encoded.encoded_problem import EncodedProblem, Values


@dataclass(frozen=True)
class StreamTable:
    """Costs of one stream: a row per candidate of its source, a column per candidate of its target."""

    delay: Values
    """d_{(i,j),(𝒰,𝒱)} in milliseconds."""
    term: Values
    """Share of F, without response time."""
    price: Values
    """Price in $ per hour."""
    log_availability: Values
    """Σ 𝒰(u)𝒱(v) a_(u,v)."""


def stream_table(instance: EncodedProblem, stream: int, sources: Candidates, targets: Candidates) -> StreamTable:
    """The table of all pairs of deployments of the two ends of a stream [EDRP, eq. 3, 4; ODP, eq. 4, 7, 18]."""
    network, rate = instance.problem.infrastructure.network, float(instance.rates[stream])
    nodes = len(instance.node_names)
    before, after = sources.counts(nodes), targets.counts(nodes)
    share_before, share_after = before / sources.size[:, None], after / targets.size[:, None]
    log_availability = before @ instance.log_links @ after.T
    term = rate * (share_before @ instance.rate_terms @ share_after.T)
    return StreamTable(
        delay=slowest_pairs(network.delay_ms, sources, targets),
        term=term + before @ instance.pair_terms @ after.T,
        price=rate * (share_before @ network.price @ share_after.T),
        log_availability=log_availability,
    )


def slowest_pairs(delay_ms: Values, sources: Candidates, targets: Candidates) -> Values:
    """max_{u ∈ 𝒰, v ∈ 𝒱} d_(u,v) [EDRP, eq. 3]."""
    reach = np.zeros((len(sources), len(delay_ms)))
    for column in range(sources.nodes.shape[1]):
        rows = np.nonzero(sources.nodes[:, column] >= 0)[0]
        reach[rows] = np.maximum(reach[rows], delay_ms[sources.nodes[rows, column]])
    slowest = np.zeros((len(sources), len(targets)))
    for column in range(targets.nodes.shape[1]):
        rows = np.nonzero(targets.nodes[:, column] >= 0)[0]
        slowest[:, rows] = np.maximum(slowest[:, rows], reach[:, targets.nodes[rows, column]])
    return slowest
