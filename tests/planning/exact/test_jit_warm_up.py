"""Compiled code is loaded or compiled before a planner's clock starts, all of it, and this is reported."""

import pytest
from numba.core.dispatcher import Dispatcher
from tests.planning.instances import FAMILIES, random_problem

from rheostat.model.quality.objective import OdpObjective
from rheostat.planning.contract.outcome import PlanStatus
from rheostat.planning.contract.planner import SILENT, Silent
from rheostat.planning.contract.problem import Limits, Problem
from rheostat.planning.exact import jit_warm_up as warming
from rheostat.planning.exact.bounds import elimination, multiset_kernel, option_kernel, path_kernel
from rheostat.planning.exact.bounds import generation_kernel as growing_kernel
from rheostat.planning.exact.branch import star
from rheostat.planning.exact.exact import Exact
from rheostat.planning.exact.search import capacity_kernel, path_remainder
from rheostat.planning.exact.search import search_kernel as kernel
from rheostat.planning.solvers import annealing
from rheostat.reference.generators import fat, sequential
from rheostat.reference.networks import random_gaussian

MODULES = (
    annealing,
    capacity_kernel,
    elimination,
    growing_kernel,
    kernel,
    multiset_kernel,
    option_kernel,
    path_kernel,
    path_remainder,
    star,
)
CALLED = {
    *("anneal", "min_plus", "generate_below", "run", "expand_root", "farthest_member", "before_multisets"),
    *("stand_ins",),
    *("after_multisets", "backward", "marginals", "best_way", "longest_ways"),
    *("farthest_pairs", "summed_pairs", "overfull_pairs"),
}


class Time:
    """Stands still unless somebody lets it pass."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def slow_compiler(monkeypatch: pytest.MonkeyPatch) -> Time:
    """As on a machine where nothing was ever compiled: two minutes pass."""
    time = Time()

    def two_minutes() -> None:
        time.now += 120.0

    two_minutes.cache_info = warming.compile_kernels.cache_info  # type: ignore[attr-defined]
    monkeypatch.setattr("rheostat.planning.contract.deadline.perf_counter", time)
    monkeypatch.setattr(warming, "compile_kernels", two_minutes)
    return time


def test_compiling_is_no_part_of_a_time_limit(slow_compiler: Time) -> None:
    problem = Problem(sequential(4), random_gaussian(4), OdpObjective(), limits=Limits(1.0))
    outcome = Exact().plan(problem)
    assert slow_compiler.now == 1120.0
    assert outcome.status is PlanStatus.OPTIMAL
    assert outcome.effort.seconds == 0.0


def test_it_is_told_once() -> None:
    heard: list[str] = []

    class Listener(Silent):
        def prepares(self, what: str) -> None:
            heard.append(what)

    warming.compile_kernels.cache_clear()
    for _ in range(2):
        warming.warm_up(Listener())
    assert heard == [warming.WORDS]


def signatures() -> dict[str, int]:
    """How often every compiled function has been compiled: once per kind of arguments."""
    found = [(name, value) for module in MODULES for name, value in vars(module).items()]
    return {name: len(value.signatures) for name, value in found if isinstance(value, Dispatcher)}


@pytest.mark.parametrize("family", [*FAMILIES, "one after the other", "side by side"])
def test_nothing_is_left_to_be_compiled_later(family: str) -> None:
    warming.warm_up(SILENT)
    before = signatures()
    if family in FAMILIES:
        problems = [random_problem(family, seed) for seed in range(25)]
    else:
        make = sequential if family == "one after the other" else fat
        problems = [Problem(make(size), random_gaussian(5, size)) for size in (4, 9)]
    for problem in problems:
        Exact(explains=False).plan(problem)
    assert signatures() == before
    # Those that are called from Python; what they call themselves is part of them when they come from the disk.
    assert {name for name, count in before.items() if count} >= CALLED
