"""Tables of pairs of multisets, compiled, are what the oracles compute by products of matrices."""

import numpy as np
import pytest

from rheostat.planning.encoded.candidates import all_candidates
from rheostat.planning.encoded.encoded_problem import TOLERANCE, EncodedProblem
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.encoded.stream_tables import stream_table
from rheostat.planning.exact.bounds.choice_levels import OptionLevel
from rheostat.planning.exact.bounds.elimination import HUGE, Structure, eliminate
from tests.planning.instances import FAMILIES, random_problem


@pytest.mark.parametrize("family", FAMILIES)
def test_every_table_is_the_oracles(family: str) -> None:
    for seed in range(20):
        instance = EncodedProblem(normalised(random_problem(family, seed)))
        candidates = [all_candidates(instance, i) for i in range(len(instance.names))]
        if min(map(len, candidates)) == 0:
            continue
        level = OptionLevel(instance, candidates)
        for e, (i, j) in enumerate(instance.edges.tolist()):
            ours, theirs = level.tables[e], stream_table(instance, e, candidates[i], candidates[j])
            for name in ("delay", "term", "price", "log_availability"):
                assert np.allclose(getattr(ours, name), getattr(theirs, name), atol=1e-12), (seed, name)
            together = level.taken[i][:, None, :] + level.taken[j][None, :, :]
            over = (together > instance.problem.infrastructure.capacities + TOLERANCE).any(axis=2)
            assert np.array_equal(level.pair(e) >= HUGE / 2, over), seed


def test_messages_to_one_operator_each_bound_from_below() -> None:
    """Where tables for two would be too large, less is known, but nothing wrong."""
    rng = np.random.default_rng(0)
    edges = np.array([[0, 1], [1, 2], [2, 3], [0, 4], [4, 2], [4, 3]])
    exact = Structure.of(5, edges)
    loose = exact.affordable(edges, [1000] * 5)
    assert exact.affordable(edges, [10] * 5) is exact
    assert loose.order == exact.order
    assert all(len(group) <= 1 for groups in loose.groups for group in groups)
    for _ in range(20):
        unary = [rng.random(4) for _ in range(5)]
        rank = {i: p for p, i in enumerate(exact.order)}
        pair = {(i, j) if rank[i] < rank[j] else (j, i): rng.random((4, 4)) for i, j in edges.tolist()}
        truth = min(
            sum(unary[i][x] for i, x in enumerate(chosen)) + sum(t[chosen[a], chosen[b]] for (a, b), t in pair.items())
            for chosen in np.ndindex(*[4] * 5)
        )
        messages = eliminate(loose, unary, pair)
        assert messages.value <= truth + 1e-9
        assert all(marginal.min() <= truth + 1e-9 for marginal in messages.marginals())
