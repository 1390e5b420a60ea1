"""Registry of planners by the names used on the command line and in settings."""

from collections.abc import Mapping
from dataclasses import dataclass

from rheostat.planning.contract.planner import Planner
from rheostat.planning.exact.candidate_sample import Sampled
from rheostat.planning.exact.exact import Exact
from rheostat.planning.exact.restricted import Restricted
from rheostat.planning.heuristics.balanced import Balanced
from rheostat.planning.heuristics.greedy import Greedy
from rheostat.planning.heuristics.pietzuch import Pietzuch
from rheostat.planning.heuristics.rizou import Rizou
from rheostat.planning.heuristics.round_robin import RoundRobin
from rheostat.planning.heuristics.tstorm import TStorm
from rheostat.planning.solvers.exhaustive import Exhaustive
from rheostat.planning.solvers.local_search import LocalSearch
from rheostat.planning.solvers.milp import Milp


@dataclass(frozen=True, slots=True)
class PlannerEntry:
    """A planner with a one-line description for users."""

    planner: Planner
    about: str
    """Description in one line, without a full stop."""


PLANNERS: Mapping[str, PlannerEntry] = {
    "exact": PlannerEntry(Exact(), "proven optimum, or the best found in time with its gap"),
    "milp": PlannerEntry(Milp(), "the papers' integer programs on HiGHS: the same answer, much slower"),
    "exhaustive": PlannerEntry(Exhaustive(), "tries every deployment: for tiny problems"),
    "restricted": PlannerEntry(Restricted(), "rEDRP: best change of at most one replica per operator"),
    "sampled": PlannerEntry(Sampled(), "the optimum on 40 % of the nodes, drawn at random"),
    "local-search": PlannerEntry(LocalSearch(), "simulated annealing, without a proof"),
    "greedy": PlannerEntry(Greedy(), "each replica on the currently best node"),
    "round-robin": PlannerEntry(RoundRobin(), "one node after the other: Storm's default"),
    "balanced": PlannerEntry(Balanced(), "E2DF's first placement: evenly on five nodes"),
    "t-storm": PlannerEntry(TStorm(), "Xu et al.: by descending traffic, least traffic between nodes"),
    "pietzuch": PlannerEntry(Pietzuch(), "springs in the latency space of Vivaldi coordinates"),
    "pietzuch-true": PlannerEntry(Pietzuch(None), "the same on true delays"),
    "rizou": PlannerEntry(Rizou(), "local optima of network usage in the latency space"),
    "rizou-true": PlannerEntry(Rizou(None), "the same on true delays"),
}
"""All planners with their default settings; the first is the default."""

PROVING = ("exact", "milp", "exhaustive")
"""Names of the planners that can prove an optimum."""
