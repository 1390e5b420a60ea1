"""Dive: a quick search among the most promising multisets only, to improve the incumbent.

Where many multisets are left, a search among a few of each operator takes little time and mostly finds the best
deployment or nearly so. It proves nothing, but its result prunes many of the others before the search among all.
"""

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.candidates import Candidates, with_downtimes
from rheostat.planning.encoded.encoded_problem import Indices
from rheostat.planning.exact.bounds.choice_levels import NodeLevel, OptionLevel
from rheostat.planning.exact.bounds.decision_order import bound_for_search
from rheostat.planning.exact.bounds.elimination import Structure
from rheostat.planning.exact.bounds.path_bound import PathBound
from rheostat.planning.exact.bounds.whole_path import Remaining, own_costs
from rheostat.planning.exact.search.search import Searched, Within, search
from rheostat.planning.exact.search.search_tables import BoundTables

FEW = 60
"""Multisets of an operator in the quick search."""

FEW_HEAVY = 150
"""The same if only time is weighed: more multisets are nearly as good."""


def is_wide(candidates: list[Candidates]) -> bool:
    """Whether a quick search among few multisets pays."""
    return max(len(c) for c in candidates) > FEW


def among_few(
    known: tuple[Remaining, NodeLevel, PathBound], structure: Structure, within: Within, clock: Deadline
) -> Searched:
    """The result of a short search among the most promising multisets."""
    whole, level, path = known
    few = FEW_HEAVY if level.heavy else FEW
    rows = [_most_promising(level, whole, path, i, few) for i in range(len(whole.candidates))]
    promising = [with_downtimes(level.instance, i, c.rows(rows[i])) for i, c in enumerate(whole.candidates)]
    options = OptionLevel(level.instance, promising)
    after = [values[at] for values, at in zip(whole.after, rows, strict=True)]
    bound = bound_for_search(options, structure, path.prices, path.path)
    return search(options, BoundTables(bound, path, level, after), within, clock)


def _most_promising(level: NodeLevel, whole: Remaining, path: PathBound, operator: int, few: int) -> Indices:
    own = own_costs(level.instance, operator, whole.candidates[operator], path.prices)
    total = whole.before[operator] + own + whole.after[operator]
    return np.sort(np.argsort(total, kind="stable")[:few])
