"""Special case: response time is a constraint, not an objective.

Two problems are easier apart than together: the least cost without a bound on the response time (then equal nodes can
be exchanged, and the first of them are enough), and the least response time at any cost (the path bound). Together they
are weak as long as the numbers of replicas are open: one more replica makes up for any delay, and a mean over the
numbers needs a tenth of it. So where cheap deployments are too slow, the numbers of replicas are examined one by one.
"""

from dataclasses import replace
from math import inf, isfinite

import numpy as np

from rheostat.model.quality.objective import EdrpObjective
from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.candidates import Candidates, candidates_of_rows, with_downtimes
from rheostat.planning.encoded.encoded_problem import TOLERANCE, EncodedProblem, Indices
from rheostat.planning.encoded.symmetry import node_classes
from rheostat.planning.exact.branch.incumbent import Incumbent
from rheostat.planning.exact.branch.subproblem import Subproblem, narrow, search_multisets

_MOST_NUMBERS = 100
"""Limit on the combinations of replica numbers that are examined one by one."""
_LATE = 1e-7
"""Relative tolerance of the bound of the response time, well above the model's tolerance."""


def search_subproblem(part: Subproblem, found: Incumbent, clock: Deadline) -> tuple[Incumbent, float]:
    """The incumbent after the search of a part, and a lower bound of the part."""
    nothing = part.goal + part.paid
    if min(len(c) for c in part.candidates) == 0 or part.relaxed.lower >= part.goal:
        return found, nothing
    if _nodes_are_alike(part.instance):
        first = _on_first_nodes(part)
        # A few multisets that are fast enough are searched sooner than all that may be too slow.
        if part.however_late is None or _together(first) <= _together(part):
            found, has_none = _has_none_however_late(part, first, found, clock)
            if has_none:
                return found, nothing
    return search_multisets(part, found, clock)


def _together(part: Subproblem) -> int:
    return sum(map(len, part.candidates))


def by_numbers_of_replicas(part: Subproblem, found: Incumbent, clock: Deadline) -> tuple[Incumbent, list[Subproblem]]:
    """Parts that contain everything below the limit, each with fewer choices than the whole; empty if there is nothing.

    Downtimes need not be known yet.
    """
    if not _nodes_are_alike(part.instance):
        return found, [part]
    numbers = _numbers_of_replicas(part)
    if len(numbers) == 0:
        return found, []
    # If the cheapest numbers are too slow, so is the whole: then it need not be searched.
    for asked in (_with_sizes(part, numbers[0]), part):
        found, has_none = _has_none_however_late(asked, _on_first_nodes(asked), found, clock)
        if not has_none:
            break
    if has_none:
        return found, []
    if not isfinite(part.instance.problem.objective.bounds.response_time_ms) or len(numbers) > _MOST_NUMBERS:
        return found, [part]
    parts = (_in_time(_with_sizes(part, sizes), clock) for sizes in numbers)
    return found, [one for one in parts if one is not None]


def _nodes_are_alike(instance: EncodedProblem) -> bool:
    """Whether it may pay to search without the bound of the response time first."""
    return instance.coefficients.response == 0 and not instance.problem.restriction and not instance.problem.hop_ms


def _has_none_however_late(
    part: Subproblem, first: Subproblem, found: Incumbent, clock: Deadline
) -> tuple[Incumbent, bool]:
    """Whether no deployment is below the limit even without the bound of the response time."""
    tried, below = search_multisets(first, found, clock, exchangeable=True)
    return replace(found, explored=tried.explored), below >= part.goal + part.paid


def _on_first_nodes(part: Subproblem) -> Subproblem:
    """The part without the multisets on unnecessary nodes: of exchangeable nodes, the first are enough.

    Delays tell such nodes apart, so the bound of the response time is dropped here, and lateness has no price;
    multisets left out as too slow are included again, since they cost as much as those they can be exchanged with.
    """
    objective = part.instance.problem.objective
    free = replace(objective, bounds=replace(objective.bounds, response_time_ms=inf))
    instance = EncodedProblem(replace(part.instance.problem, objective=free))
    number = node_classes(instance)
    rank = np.array([int((number[:u] == number[u]).sum()) for u in range(len(number))])
    options = part.candidates if part.however_late is None else part.however_late
    replicas = sum(int(c.size.max(initial=0)) for c in options)
    first = np.append(rank < replicas, True)
    kept = [c.rows(np.nonzero(first[c.nodes].all(axis=1))[0]) for c in options]
    if part.however_late is not None:
        longest = max(float(c.downtime.max()) for c in part.candidates)
        kept = [with_downtimes(part.instance, i, c) for i, c in enumerate(kept)]
        kept = [c.rows(np.nonzero(c.downtime <= longest + TOLERANCE)[0]) for c in kept]
    return replace(part, instance=instance, candidates=kept, narrowed=None, however_late=None)


def _numbers_of_replicas(part: Subproblem) -> Indices:
    """Combinations of replica numbers that may be cheap and fast enough, a row each, the cheapest first."""
    numbers, cost, wait = np.zeros((1, 0), dtype=np.int64), np.zeros(1), np.zeros(1)
    for i, options in enumerate(part.candidates):
        sizes = np.unique(options.size)
        least = np.array([options.term[options.size == m].min() for m in sizes])
        pause = np.array([options.latency[options.size == m].min() for m in sizes])
        on_path = float(i in part.relaxed.path)
        numbers = np.column_stack([np.repeat(numbers, len(sizes), axis=0), np.tile(sizes, len(numbers))])
        cost = np.repeat(cost, len(sizes)) + np.tile(least, len(cost))
        wait = np.repeat(wait, len(sizes)) + on_path * np.tile(pause, len(wait))
        bound = part.instance.problem.objective.bounds.response_time_ms
        keep = (cost + _rest(part, i) < part.goal) & (wait <= bound * (1 + _LATE))
        numbers, cost, wait = numbers[keep], cost[keep], wait[keep]
    return np.asarray(numbers[np.argsort(cost, kind="stable")])


def _rest(part: Subproblem, operator: int) -> float:
    """Least cost of the replicas of all operators after this one."""
    return float(sum(options.term.min() for options in part.candidates[operator + 1 :]))


def _with_sizes(part: Subproblem, sizes: Indices) -> Subproblem:
    kept = [c.rows(np.nonzero(c.size == m)[0]) for c, m in zip(part.candidates, sizes.tolist(), strict=True)]
    return replace(part, candidates=kept, narrowed=None)


def _in_time(part: Subproblem, clock: Deadline) -> Subproblem | None:
    """The part without the multisets with which every deployment is too slow; None if nothing is left."""
    problem = part.instance.problem
    bounds = problem.objective.bounds
    fast = replace(problem, objective=EdrpObjective(1.0, 0.0, 0.0, bounds), limits=replace(problem.limits, gap=0.0))
    free = [replace(c, term=np.zeros(len(c))) for c in part.candidates]
    asked = replace(part, instance=EncodedProblem(fast), candidates=free, limit=1.0 + _LATE, narrowed=None)
    left = narrow(asked, clock)
    if left is None:
        return None
    in_time = [_costed(part.instance, i, c) for i, c in enumerate(left.candidates)]
    return replace(part, candidates=in_time, however_late=part.candidates)


def _costed(instance: EncodedProblem, operator: int, options: Candidates) -> Candidates:
    """Multisets with their costs, after they were examined with zero costs."""
    return replace(candidates_of_rows(instance, operator, options.nodes), downtime=options.downtime)
