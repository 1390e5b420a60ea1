"""Solves one subproblem on given multisets: new Lagrange multipliers, then branch and bound."""

from dataclasses import dataclass, replace

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.candidates import Candidates
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.exact.bounds.choice_levels import NodeLevel, OptionLevel
from rheostat.planning.exact.bounds.decision_order import bound_for_search
from rheostat.planning.exact.bounds.elimination import HUGE
from rheostat.planning.exact.bounds.lagrangian import Ascent, Bound, best_bound, room
from rheostat.planning.exact.bounds.multiset_bound import worthwhile
from rheostat.planning.exact.bounds.path_bound import Climb, PathBound, affordable_slots, path_bound
from rheostat.planning.exact.bounds.whole_path import Remaining, compared
from rheostat.planning.exact.branch.incumbent import Incumbent, enough
from rheostat.planning.exact.branch.node_level import Relaxed
from rheostat.planning.exact.search.dive import among_few, is_wide
from rheostat.planning.exact.search.search import Within, search
from rheostat.planning.exact.search.search_tables import BoundTables

_CELLS = 5_000_000
"""Entries of all stream tables together beyond which the multisets are too many."""
_STEPS = 400_000
"""Steps of a pass along the path."""


@dataclass(frozen=True)
class Narrowed:
    """What the path says of the multisets of a part."""

    whole: Remaining
    """The multisets that are left."""
    level: NodeLevel
    """A stand-in for every one of them, at least."""
    bound: PathBound

    @property
    def candidates(self) -> list[Candidates]:
        """The multisets that are left, per operator."""
        return self.whole.candidates


@dataclass(frozen=True)
class Subproblem:
    """Multisets among which something below a limit is looked for."""

    instance: EncodedProblem
    candidates: list[Candidates]
    relaxed: Relaxed
    floor: float
    """The least downtime of the part."""
    limit: float
    narrowed: Narrowed | None = None
    """If the path has been asked already."""
    however_late: list[Candidates] | None = None
    """The multisets before those were left out with which every answer is late, if any were."""

    @property
    def paid(self) -> float:
        """What the least downtime adds to F."""
        return self.instance.coefficients.downtime * self.floor

    @property
    def goal(self) -> float:
        """A bound, downtime not included, from which on there is nothing in the part."""
        target = enough(self.instance, self.limit)
        return target - self.paid if target < HUGE / 2 else target


def searched_among(
    part: Subproblem, found: Incumbent, clock: Deadline, *, exchangeable: bool = False
) -> tuple[Incumbent, float]:
    """What is known after the search, and a lower bound of everything in the part.

    By the path, by elimination over all operators, and then one by one.
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
    """The search among all multisets that are left, after one more filter."""
    nothing = part.goal + part.paid
    outcome = _by_messages(replace(part, candidates=known.candidates), known.bound, clock)
    if outcome is None:
        return found, nothing
    fewer, bound = outcome
    if clock.is_over():
        return found, bound.value + part.paid
    # The path's level has a stand-in for every multiset before the last filter, so for those that are left, too.
    whole = compared(known.level, known.bound, Remaining.unknown(fewer.candidates), part.goal, clock)
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
"""Nodes of a search among a few multisets."""


def _dived(
    part: Subproblem, known: Narrowed, found: Incumbent, clock: Deadline, *, exchangeable: bool
) -> tuple[Incumbent, Subproblem, Narrowed | None]:
    """Something better from among a few multisets, and what is left then; None if nothing is."""
    while is_wide(known.candidates) and not exchangeable and not clock.is_over():
        before, found = found, glanced(part, known, found, clock)
        if found.upper >= min(part.limit, before.upper):
            break
        part = replace(part, limit=found.upper)
        whole = compared(known.level, known.bound, known.whole, part.goal, clock)
        if min(len(c) for c in whole.candidates) == 0:
            return found, part, None
        known = replace(known, whole=whole)
        if found.explored - before.explored < GLANCE:
            break
    return found, part, known


def glanced(part: Subproblem, known: Narrowed, found: Incumbent, clock: Deadline) -> Incumbent:
    """Something better from among a few multisets, if it is found quickly."""
    within = Within(part.limit, part.floor, part.instance.problem.limits.gap, GLANCE)
    result = among_few((known.whole, known.level, known.bound), part.relaxed.structure, within, clock)
    found = replace(found, explored=found.explored + result.explored)
    if result.chosen is None:
        return found
    return replace(found, deployment=part.instance.deployment(result.chosen), upper=result.upper)


def _again(part: Subproblem, clock: Deadline) -> Narrowed | None:
    """What the path says, unless it has said so of the same multisets."""
    known = part.narrowed
    if known is not None and [len(c) for c in known.candidates] == [len(c) for c in part.candidates]:
        # The part's have their downtimes by now.
        return replace(known, whole=replace(known.whole, candidates=part.candidates))
    return narrowed(part, clock)


def are_too_many(candidates: list[Candidates], instance: EncodedProblem) -> bool:
    """Whether there is no room for tables of all pairs."""
    return sum(len(candidates[i]) * len(candidates[j]) for i, j in instance.edges.tolist()) > _CELLS


def narrowed(part: Subproblem, clock: Deadline) -> Narrowed | None:
    """Fewer multisets, by the path with only the stand-ins that are needed; None if nothing is left."""
    path = part.relaxed.path
    # Without prices: multisets know which nodes are full, and what prices give back for all others weakens them.
    prices = replace(part.relaxed.prices, capacity=np.zeros(len(part.instance.node_names)))
    while True:
        level = NodeLevel(part.instance)
        level.keep_in(part.candidates)
        slots = affordable_slots(level, path, _STEPS)
        bound = path_bound(level, path, prices, Climb(slots, 0, part.goal), clock)
        if bound.value >= part.goal:
            return None
        whole = compared(level, bound, worthwhile(level, bound, part.candidates, part.goal), part.goal, clock)
        if min(len(c) for c in whole.candidates) == 0:
            return None
        before, after = sum(len(c) for c in part.candidates), sum(len(c) for c in whole.candidates)
        part = replace(part, candidates=whole.candidates)
        if after > 0.8 * before or clock.is_over():
            return Narrowed(whole, level, bound)


def _by_messages(part: Subproblem, known: PathBound, clock: Deadline) -> tuple[Subproblem, Bound] | None:
    """Fewer multisets still, by elimination over all operators; None if nothing is left."""
    prices = known.prices
    for rounds in (4, 15, 10, 0):
        level = OptionLevel(part.instance, part.candidates)
        target = part.goal if part.goal < HUGE / 2 else HUGE
        structure = part.relaxed.structure.affordable(part.instance.edges, level.sizes())
        # Where tables are large, better prices take longer than the search that they would spare.
        ascent = Ascent(rounds if structure is part.relaxed.structure else 0, 6, target)
        bound = best_bound(level, structure, prices, ascent, clock)
        if bound.value >= part.goal:
            return None
        spare = room(part.instance, bound.prices)
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
