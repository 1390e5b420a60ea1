"""General method of `exact`: prices, filter and search, with growing cost limits if no solution is known yet."""

from dataclasses import replace
from math import inf

import numpy as np

from rheostat.model.graph.deployment import Deployment
from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.candidates import Candidates, with_downtimes
from rheostat.planning.encoded.change_cost import least_start_seconds, without_starts
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.exact.bounds.bound_filter import MOST, TooMany, multisets_below, with_packed
from rheostat.planning.exact.bounds.choice_levels import NodeLevel
from rheostat.planning.exact.bounds.elimination import HUGE, Structure
from rheostat.planning.exact.bounds.lagrangian import prices_along
from rheostat.planning.exact.bounds.multiset_generation import PathCosts
from rheostat.planning.exact.bounds.path_bound import longest_chain
from rheostat.planning.exact.branch.incumbent import Incumbent, Listener, enough, internal_value
from rheostat.planning.exact.branch.node_level import Relaxed, at_node_level
from rheostat.planning.exact.branch.pipeline import is_pipeline, solve_pipeline
from rheostat.planning.exact.branch.star import is_star, solve_star
from rheostat.planning.exact.branch.subproblem import GLANCE, Subproblem, are_too_many, narrow, quick_search
from rheostat.planning.exact.branch.symmetric_nodes import by_numbers_of_replicas, search_subproblem

_GUESSES = (1.05, 1.2, 1.5, 2.5, 6.0)
"""Multiples of the bound that are tried as limits while no feasible deployment is known."""
_MANY = 25_000
"""Multisets of one operator above which a lower limit is tried first."""
_FEW = 1_500
"""Multisets of one operator up to which all below the incumbent are searched without a quick search before."""
_NOT_MANY = 12_000
"""Multisets of one operator up to which all below the incumbent are searched at once, for any gap."""
_GLANCED = 400
"""Multisets of one operator in the quick search at the beginning."""
_GLANCED_HEAVY = 2_000
"""The same if stand-ins are heavy: bounds are closer there, and the best is not far below the others."""
_SHARES = (0.5, 0.35, 0.25, 0.15)
"""Shares of the gap: below one of these limits the multisets are few enough."""
_WIDE = 0.05
"""Gap above which the lower half is searched first: with a deployment from there the upper half is not needed."""
_LEAST_SHARE = 0.01
"""Least share of the gap at which lower limits are tried."""
_TRIES = 5
"""Greatest number of times the limit is lowered."""
_SAME_PAUSE = 0.05
"""Downtimes within this distance, relative to the longest, are searched together."""


def branch_and_bound(instance: EncodedProblem, first: Deployment | None, clock: Deadline, told: Listener) -> Incumbent:
    """The optimum or the best deployment in time, starting from a feasible deployment if there is one."""
    found = Incumbent(first, internal_value(instance, first), -inf, note="branch and bound")
    if is_star(instance):
        return solve_star(instance, found, clock, told)
    if is_pipeline(instance):
        found = solve_pipeline(instance, found, clock, told)
        if found.complete or clock.is_over():
            return found
    floor, below = least_start_seconds(instance), inf
    if floor > 0:
        found, below = _without_starts(instance, found, clock)
    paid = instance.coefficients.downtime * floor
    relaxed = at_node_level(instance, found.deployment, found.upper - paid, clock)
    found = replace(found, lower=min(relaxed.lower + paid, below, found.upper))
    told(found)
    if relaxed.lower + paid < enough(instance, found.upper):
        found = _limit_by_limit(relaxed, floor, found, clock, told)
    else:
        found = replace(found, complete=True)
    if below < enough(instance, found.upper):
        return replace(found, lower=min(found.lower, below), complete=False)
    return found


def _without_starts(instance: EncodedProblem, found: Incumbent, clock: Deadline) -> tuple[Incumbent, float]:
    """Searches the few deployments that start no replica, or none on a new node; also returns their lower bound."""
    candidates = [_with_downtime(instance, i, c) for i, c in enumerate(without_starts(instance))]
    level, path = NodeLevel(instance), longest_chain(instance)
    prices = prices_along(instance, list(path), np.zeros(len(instance.node_names)))
    structure = Structure.of(len(instance.names), instance.edges, path)
    relaxed = Relaxed(level, structure, path, prices, [], -inf)
    limit = min(found.upper, HUGE / 2)
    return search_subproblem(Subproblem(instance, candidates, relaxed, 0.0, limit), found, clock)


def _limit_by_limit(relaxed: Relaxed, floor: float, found: Incumbent, clock: Deadline, told: Listener) -> Incumbent:
    """Searches below increasing limits, so that few multisets are generated at a time."""
    instance = relaxed.level.instance
    paid = instance.coefficients.downtime * floor
    guesses, many, few = iter(_GUESSES), _MANY, MOST if relaxed.level.heavy else _NOT_MANY
    goal = _goal(instance, found.upper, paid)
    ground = PathCosts.below(relaxed.level, relaxed.path, relaxed.prices, goal, relaxed.free)
    found = _glanced(relaxed, ground, floor, found, clock)
    told(found)
    share = 1.0 if found.upper - found.lower < _WIDE * abs(found.upper) else 0.5
    while not clock.is_over() and not found.complete:
        limit, candidates = min(found.upper, HUGE / 2), None
        if found.deployment is None and (guess := next(guesses, None)) is not None:
            limit = max(relaxed.lower, 1e-9) * guess + paid
        elif limit < HUGE / 2:
            # Few multisets are searched at once, for any gap.
            candidates = _generated(relaxed, ground, _goal(instance, limit, paid), (few, clock)) if few else None
            if candidates is None:
                limit, few = found.lower + share * (limit - found.lower), min(few, _NOT_MANY)
        if candidates is None:
            most = many if limit < HUGE / 2 else MOST
            candidates = _generated(relaxed, ground, _goal(instance, limit, paid), (most, clock))
        for _ in range(_TRIES):
            if candidates is not None or limit >= HUGE / 2 or clock.is_over():
                break
            limit = found.lower + 0.5 * (limit - found.lower)
            candidates = _generated(relaxed, ground, _goal(instance, limit, paid), (many, clock))
        if clock.is_over():
            return found
        if candidates is None and many >= MOST:
            return replace(found, note="too many multisets")
        many = min(4 * many, MOST)
        if candidates is None:
            continue
        before, found = found, _within(relaxed, (limit, floor), candidates, found, clock)
        told(found)
        stuck = found.lower <= before.lower and found.upper >= before.upper
        if limit >= HUGE / 2 or share < _LEAST_SHARE:
            break
        if found.deployment is not None:
            # Too many multisets below this limit, or all explored: continue with a lower or a higher one.
            wide = found.upper - found.lower > _WIDE * abs(found.upper)
            share = 0.4 * share if stuck else min(0.5 if wide else 1.0, 2 * share)
            few = 0 if stuck else few
    return found


def _glanced(relaxed: Relaxed, ground: PathCosts, floor: float, found: Incumbent, clock: Deadline) -> Incumbent:
    """Improves the incumbent by quick searches among the most promising multisets, unless there are few anyway.

    The better the incumbent, the fewer multisets are left below it: that pays long before all of them are searched.
    """
    instance = relaxed.level.instance
    paid = instance.coefficients.downtime * floor
    while found.upper < HUGE / 2 and not clock.is_over():
        if _generated(relaxed, ground, _goal(instance, found.upper, paid), (_FEW, clock)) is not None:
            break
        limits = (found.lower + share * (found.upper - found.lower) for share in _SHARES)
        most = _GLANCED_HEAVY if relaxed.level.heavy else _GLANCED
        tried = (_generated(relaxed, ground, _goal(instance, limit, paid), (most, clock)) for limit in limits)
        few = next((candidates for candidates in tried if candidates is not None), [])
        few = with_packed(relaxed.level, few, relaxed.values, _goal(instance, found.upper, paid))
        part = Subproblem(instance, few, relaxed, floor, found.upper)
        known = None if min(map(len, few), default=0) == 0 else narrow(part, clock)
        if known is None or clock.is_over():
            break
        before, found = found, quick_search(part, known, found, clock)
        if found.upper >= before.upper or found.explored < before.explored + GLANCE:
            break
    return found


def _goal(instance: EncodedProblem, limit: float, paid: float) -> float:
    """The bound, without downtime, at which no deployment is below a limit."""
    target = enough(instance, limit)
    return target - paid if target < HUGE / 2 else target


def _generated(
    relaxed: Relaxed, ground: PathCosts, goal: float, within: tuple[int, Deadline]
) -> list[Candidates] | None:
    """The multisets that can be part of a deployment below a goal; None if they are too many, or time is over."""
    try:
        return multisets_below(ground, relaxed.values, goal, *within)
    except TooMany:
        return None


def _within(
    relaxed: Relaxed, within: tuple[float, float], generated: list[Candidates], found: Incumbent, clock: Deadline
) -> Incumbent:
    """Searches the deployments below a limit that start at least one replica."""
    instance, (limit, least) = relaxed.level.instance, within
    found = replace(found, generated=found.generated + sum(len(c) for c in generated))
    whole = Subproblem(instance, generated, relaxed, least, min(limit, found.upper))
    fewer, lower = (None if min(map(len, generated)) == 0 else narrow(whole, clock)), inf
    if clock.is_over():
        return found
    if fewer is not None and are_too_many(fewer.candidates, instance):
        found = quick_search(whole, fewer, found, clock)
        return replace(found, note="too many multisets", lower=min(found.lower, found.upper))
    parts: list[Subproblem] = []
    if fewer is not None:
        whole = replace(whole, candidates=fewer.candidates, narrowed=fewer)
        found, parts = by_numbers_of_replicas(whole, found, clock)
    for part in parts:
        # Downtimes come only now, since they take long to compute.
        candidates = [_with_downtime(instance, i, c) for i, c in enumerate(part.candidates)]
        for floor, ceiling in _pauses(instance, candidates):
            if ceiling < least - 1e-9:
                continue
            if clock.is_over():
                return found
            rows = [c.rows(np.nonzero(c.downtime <= ceiling)[0]) for c in candidates]
            here = replace(part, candidates=rows, floor=max(floor, least), limit=min(limit, found.upper))
            found, below = search_subproblem(here, found, clock)
            lower = min(lower, below)
    if lower < enough(instance, min(found.upper, limit)):
        return replace(found, lower=max(found.lower, min(lower, found.upper)))
    if found.upper > limit and limit < HUGE / 2:
        # No deployment is below the guess: that is a bound, but no answer yet.
        return replace(found, lower=max(found.lower, limit))
    return replace(found, lower=min(lower, found.upper), complete=True)


def _with_downtime(instance: EncodedProblem, operator: int, candidates: Candidates) -> Candidates:
    """Candidates with effective downtimes, including restarts; without those above the bound."""
    known = with_downtimes(instance, operator, candidates)
    return known.rows(np.nonzero(known.downtime <= instance.problem.objective.bounds.downtime_seconds + 1e-9)[0])


def _pauses(instance: EncodedProblem, candidates: list[Candidates]) -> list[tuple[float, float]]:
    """Intervals of downtime to be searched one after another."""
    values = np.unique(np.concatenate([c.downtime for c in candidates]))
    if instance.coefficients.downtime == 0 or len(values) <= 1:
        return [(0.0, inf)]
    width = _SAME_PAUSE * float(values[-1])
    intervals: list[tuple[float, float]] = []
    for value in values.tolist():
        if intervals and value > 0 and intervals[-1][0] > 0 and value - intervals[-1][0] <= width:
            intervals[-1] = (intervals[-1][0], value)
        else:
            intervals.append((value, value))
    return intervals
