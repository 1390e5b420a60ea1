"""The general method of `exact`, step by step: prices, filter, search; limit by limit where nothing is known yet."""

from dataclasses import replace
from math import inf

import numpy as np

from rheostat.model.deployment import Deployment
from rheostat.planning.candidates import Candidates
from rheostat.planning.clock import Clock
from rheostat.planning.elimination import HUGE
from rheostat.planning.filtering import TooMany, surviving
from rheostat.planning.instance import Instance
from rheostat.planning.part import Part, searched
from rheostat.planning.progressing import Found, enough, internal_value
from rheostat.planning.relaxed import Relaxed, at_node_level

_GUESSES = (1.05, 1.2, 1.5, 2.5, 6.0)
"""Multiples of the bound that are tried as limits while no feasible deployment is known."""
_SAME_PAUSE = 0.05
"""Downtimes this close to each other, relative to the longest, are searched together."""


def explored(instance: Instance, first: Deployment | None, clock: Clock) -> Found:
    """From a feasible deployment, if there is one, to the optimum."""
    upper = internal_value(instance, first)
    found = Found(first, upper, -inf, note="branch and bound")
    relaxed = at_node_level(instance, first, upper, clock)
    found = replace(found, lower=min(relaxed.lower, upper))
    if relaxed.lower >= enough(instance, upper):
        return replace(found, complete=True)
    for limit in _limits(relaxed.lower, upper):
        if clock.is_over():
            return found
        found = _within(relaxed, limit, found, clock)
        if found.complete or found.upper < limit:
            return found
    return found


def _limits(lower: float, upper: float) -> list[float]:
    if upper < inf:
        return [upper]
    return [*(max(lower, 1e-9) * guess for guess in _GUESSES), HUGE / 2]


def _within(relaxed: Relaxed, limit: float, found: Found, clock: Clock) -> Found:
    """Looks for something below a limit."""
    instance = relaxed.level.instance
    try:
        generated = surviving(relaxed.level, relaxed.values, enough(instance, limit))
    except TooMany:
        return replace(found, note="too many multisets")
    candidates = [_with_downtime(instance, i, c) for i, c in enumerate(generated)]
    found = replace(found, generated=found.generated + sum(len(c) for c in candidates))
    lower = inf
    for floor, ceiling in _pauses(instance, candidates):
        if clock.is_over():
            return replace(found, lower=min(found.lower, lower))
        part = [c.rows(np.nonzero(c.downtime <= ceiling)[0]) for c in candidates]
        found, below = searched(Part(instance, part, relaxed, floor, min(limit, found.upper)), found, clock)
        lower = min(lower, below)
    complete = lower >= enough(instance, min(found.upper, limit))
    if complete and found.upper > limit and limit < HUGE / 2:
        # Nothing is below the guess: that is a bound, but no answer yet.
        return replace(found, lower=max(found.lower, limit))
    if complete:
        return replace(found, lower=min(lower, found.upper), complete=True)
    return replace(found, lower=max(found.lower, min(lower, found.upper)))


def _with_downtime(instance: Instance, operator: int, candidates: Candidates) -> Candidates:
    """Effective downtimes, restarts included; without what takes too long anyway."""
    if instance.current is None:
        return candidates
    current = instance.current[operator]
    stays = np.array([candidates.chosen(row) == current for row in range(len(candidates))], dtype=bool)
    pause = np.where(stays, 0.0, np.maximum(candidates.downtime, instance.restart_seconds))
    keep = np.nonzero(pause <= instance.problem.objective.bounds.downtime_seconds + 1e-9)[0]
    return replace(candidates, downtime=pause).rows(keep)


def _pauses(instance: Instance, candidates: list[Candidates]) -> list[tuple[float, float]]:
    """Intervals of downtime to be searched one after another."""
    values = np.unique(np.concatenate([c.downtime for c in candidates])) if candidates else np.zeros(1)
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
