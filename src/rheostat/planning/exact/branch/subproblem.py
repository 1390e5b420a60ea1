"""Solves one subproblem on given multisets: new Lagrange multipliers, then branch and bound."""

from dataclasses import dataclass, replace

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.candidates import Candidates
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.exact.bounds.choice_levels import NodeLevel, OptionLevel
from rheostat.planning.exact.bounds.decision_order import bound_for_search
from rheostat.planning.exact.bounds.elimination import HUGE
from rheostat.planning.exact.bounds.lagrangian import Ascent, Bound, best_bound, capacity_value
from rheostat.planning.exact.bounds.multiset_bound import promising_multisets
from rheostat.planning.exact.bounds.path_bound import PathAscent, PathBound, affordable_slots, path_bound
from rheostat.planning.exact.bounds.whole_path import Remaining, compare_pairwise
from rheostat.planning.exact.branch.incumbent import Incumbent, enough
from rheostat.planning.exact.branch.node_level import Relaxed
from rheostat.planning.exact.search.dive import among_few, is_wide
from rheostat.planning.exact.search.search import Within, search
from rheostat.planning.exact.search.search_tables import BoundTables

_CELLS = 5_000_000
"""Limit on the entries of all stream tables together; beyond it there are too many multisets."""
_STEPS = 400_000
"""Limit on the steps of a pass along the path."""


@dataclass(frozen=True)
class Narrowed:
    """Multisets of a part that the path bounds leave."""

    whole: Remaining
    """The remaining multisets."""
    level: NodeLevel
    """Level with a stand-in for at least every remaining multiset."""
    bound: PathBound

    @property
    def candidates(self) -> list[Candidates]:
        """The remaining multisets, per operator."""
        return self.whole.candidates


@dataclass(frozen=True)
class Subproblem:
    """Multisets to be searched for a deployment below a limit."""

    instance: EncodedProblem
    candidates: list[Candidates]
    relaxed: Relaxed
    floor: float
    """The least downtime of the part."""
    limit: float
    narrowed: Narrowed | None = None
    """Result of the path bounds, if they were computed already."""
    however_late: list[Candidates] | None = None
    """The multisets including those with which every deployment is too slow; None if none were left out."""

    @property
    def paid(self) -> float:
        """Share of F of the least downtime."""
        return self.instance.coefficients.downtime * self.floor

    @property
    def goal(self) -> float:
        """The bound, without downtime, at which the part cannot contain anything better."""
        target = enough(self.instance, self.limit)
        return target - self.paid if target < HUGE / 2 else target


def search_multisets(
    part: Subproblem, found: Incumbent, clock: Deadline, *, exchangeable: bool = False
) -> tuple[Incumbent, float]:
    """The incumbent after the search of a part, and a lower bound of the part.

    The part is narrowed by the path, then by elimination over all operators, and the rest is searched.
    """
    nothing = part.goal + part.paid
    if min(len(c) for c in part.candidates) == 0:
        return found, nothing
    known = _again(part, clock)
    if known is None:
        return found, nothing
    lower = max(part.relaxed.lower, known.bound.value) + part.paid
    if clock.is_over():
        return found, lower
    found, part, known = _dived(part, known, found, clock, exchangeable=exchangeable)
    if known is None:
        # The limit is lower by now.
        return found, part.goal + part.paid
    if are_too_many(known.candidates, part.instance):
        return replace(found, note="too many multisets"), lower
    found, below = _among_all(part, known, found, clock, exchangeable=exchangeable)
    return found, max(below, min(lower, found.upper))


def _among_all(
    part: Subproblem, known: Narrowed, found: Incumbent, clock: Deadline, *, exchangeable: bool
) -> tuple[Incumbent, float]:
    """Searches all remaining multisets, after one more filter."""
    nothing = part.goal + part.paid
    outcome = _by_messages(replace(part, candidates=known.candidates), known.bound, clock)
    if outcome is None:
        return found, nothing
    fewer, bound = outcome
    if clock.is_over():
        return found, bound.value + part.paid
    # The path's level has a stand-in for every multiset before the last filter, so also for the remaining ones.
    whole = compare_pairwise(known.level, known.bound, Remaining.unknown(fewer.candidates), part.goal, clock)
    if min(len(c) for c in whole.candidates) == 0:
        return found, nothing
    options = OptionLevel(part.instance, whole.candidates)
    bound = bound_for_search(options, part.relaxed.structure, bound.prices, known.bound.path)
    bounds = BoundTables(bound, known.bound, known.level, whole.after, exchangeable)
    within = Within(part.limit, part.floor, part.instance.problem.limits.gap)
    result = search(options, bounds, within, clock)
    found = replace(found, explored=found.explored + result.explored)
    if result.chosen is not None:
        found = replace(found, deployment=part.instance.deployment(result.chosen), upper=result.upper)
    return found, max(result.lower, min(min(bound.value, part.goal) + part.paid, result.upper))


GLANCE = 2_000
"""Limit on the nodes of a quick search among few multisets."""


def _dived(
    part: Subproblem, known: Narrowed, found: Incumbent, clock: Deadline, *, exchangeable: bool
) -> tuple[Incumbent, Subproblem, Narrowed | None]:
    """Improves the incumbent by quick searches, and returns what is left then; None if nothing is."""
    while is_wide(known.candidates) and not exchangeable and not clock.is_over():
        before, found = found, quick_search(part, known, found, clock)
        if found.upper >= min(part.limit, before.upper):
            break
        part = replace(part, limit=found.upper)
        whole = compare_pairwise(known.level, known.bound, known.whole, part.goal, clock)
        if min(len(c) for c in whole.candidates) == 0:
            return found, part, None
        known = replace(known, whole=whole)
        if found.explored - before.explored < GLANCE:
            break
    return found, part, known


def quick_search(part: Subproblem, known: Narrowed, found: Incumbent, clock: Deadline) -> Incumbent:
    """The incumbent after a quick search among a few multisets."""
    within = Within(part.limit, part.floor, part.instance.problem.limits.gap, GLANCE)
    result = among_few((known.whole, known.level, known.bound), part.relaxed.structure, within, clock)
    found = replace(found, explored=found.explored + result.explored)
    if result.chosen is None:
        return found
    return replace(found, deployment=part.instance.deployment(result.chosen), upper=result.upper)


def _again(part: Subproblem, clock: Deadline) -> Narrowed | None:
    """Result of the path bounds, reused if it was computed for the same multisets."""
    known = part.narrowed
    if known is not None and [len(c) for c in known.candidates] == [len(c) for c in part.candidates]:
        # The candidates of the part have their downtimes by now.
        return replace(known, whole=replace(known.whole, candidates=part.candidates))
    return narrow(part, clock)


def are_too_many(candidates: list[Candidates], instance: EncodedProblem) -> bool:
    """Whether the tables of all pairs would be too large."""
    return sum(len(candidates[i]) * len(candidates[j]) for i, j in instance.edges.tolist()) > _CELLS


def narrow(part: Subproblem, clock: Deadline) -> Narrowed | None:
    """The part with fewer multisets, by path bounds with only the needed stand-ins; None if nothing is left."""
    path = part.relaxed.path
    # Without prices: multisets know which nodes are full, and the value of unused capacity would weaken the bounds.
    prices = replace(part.relaxed.prices, capacity=np.zeros(len(part.instance.node_names)))
    while True:
        level = NodeLevel(part.instance)
        level.keep_in(part.candidates)
        slots = affordable_slots(level, path, _STEPS)
        bound = path_bound(level, path, prices, PathAscent(slots, 0, part.goal), clock)
        if bound.value >= part.goal:
            return None
        whole = compare_pairwise(
            level, bound, promising_multisets(level, bound, part.candidates, part.goal), part.goal, clock
        )
        if min(len(c) for c in whole.candidates) == 0:
            return None
        before, after = sum(len(c) for c in part.candidates), sum(len(c) for c in whole.candidates)
        part = replace(part, candidates=whole.candidates)
        if after > 0.8 * before or clock.is_over():
            return Narrowed(whole, level, bound)


def _by_messages(part: Subproblem, known: PathBound, clock: Deadline) -> tuple[Subproblem, Bound] | None:
    """The part with still fewer multisets, by elimination over all operators; None if nothing is left."""
    prices = known.prices
    for rounds in (4, 15, 10, 0):
        level = OptionLevel(part.instance, part.candidates)
        target = part.goal if part.goal < HUGE / 2 else HUGE
        structure = part.relaxed.structure.affordable(part.instance.edges, level.sizes())
        # With large tables, better prices take longer than the search that they would save.
        ascent = Ascent(rounds if structure is part.relaxed.structure else 0, 6, target)
        bound = best_bound(level, structure, prices, ascent, clock)
        if bound.value >= part.goal:
            return None
        spare = capacity_value(part.instance, bound.prices)
        kept = [
            c.rows(np.nonzero(marginal - spare < part.goal)[0])
            for c, marginal in zip(part.candidates, bound.messages.marginals(), strict=True)
        ]
        if min(len(c) for c in kept) == 0:
            return None
        fewer = sum(len(c) for c in kept) < 0.9 * sum(len(c) for c in part.candidates)
        part, prices = replace(part, candidates=kept), bound.prices
        if rounds == 0 or not fewer or clock.is_over():
            break
    return part, bound
