"""Warm-up of the compiled (numba) kernels before any time limit starts.

numba compiles a function when it is first called and keeps the result on disk. On a machine with no cached code that
takes about a minute, longer than most limits; a limit is about the search. So every kernel is called on problems of a
few nodes first, once per process.
"""

from functools import cache
from math import inf

from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.latency import Constant
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node
from rheostat.model.quality.objective import Bounds, EdrpObjective
from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.planner import Progress
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.exact.branch.branch_and_bound import branch_and_bound
from rheostat.planning.exact.branch.incumbent import Incumbent
from rheostat.planning.solvers.local_search import compile_annealing

WORDS = "loads its compiled code; the first time on a machine it is compiled, which takes about a minute"


def warm_up(progress: Progress) -> None:
    """Loads or compiles all kernels, so that later calls start at once."""
    if not compile_kernels.cache_info().currsize:
        progress.prepares(WORDS)
    compile_kernels()


@cache
def compile_kernels() -> None:
    """Calls every compiled function with the types it will be called with."""
    compile_annealing()
    for problem in (_replicated(), _odp((0, 1), (1, 2)), _odp((0, 1), (0, 2), (1, 3), (2, 3))):
        branch_and_bound(EncodedProblem(normalised(problem)), None, Deadline(inf), _unheard)


def _unheard(found: Incumbent) -> None:
    """Ignores an incumbent found during warm-up."""


def _application(replicas: int, *streams: tuple[int, int]) -> Application:
    last = max(max(ends) for ends in streams)
    kinds = [Kind.SOURCE, *[Kind.STATELESS] * (last - 1), Kind.SINK]
    operators = tuple(
        Operator(f"o{i}", kind, max_replicas=replicas, latency=Constant(5.0), rate_tps=10.0 if i == 0 else 0.0)
        for i, kind in enumerate(kinds)
    )
    return Application("tiny", operators, tuple(Stream(f"o{i}", f"o{j}") for i, j in streams))


def _nodes() -> Infrastructure:
    nodes = tuple(Node(f"n{u}", resources=2.0) for u in range(3))
    return Infrastructure("three", nodes, delays_ms=DelayMatrix.of([[0, 5, 9], [5, 0, 7], [9, 7, 0]]))


def _replicated() -> Problem:
    """Problem for the general method: one operator has two inputs that are also joined, so all table sizes occur."""
    application = _application(2, (0, 1), (0, 2), (1, 2))
    return Problem(application, _nodes(), EdrpObjective(0.5, 0.5, 0.0, Bounds(1000.0, 100.0, 10.0)))


def _odp(*streams: tuple[int, int]) -> Problem:
    """Problem for the special methods of pipelines and stars."""
    return Problem(_application(1, *streams), _nodes())
