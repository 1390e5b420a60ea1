"""One plan of ODP 7.3 and what it took: sequential and fat applications on Gaussian networks, response time alone."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from time import perf_counter, process_time

import numpy as np

from experiments.planning.report import tell
from rheostat.model.graph.application import Application
from rheostat.model.quality.objective import OdpObjective
from rheostat.planning.contract.outcome import Outcome, PlanStatus
from rheostat.planning.contract.planner import Planner
from rheostat.planning.contract.problem import Limits, Problem
from rheostat.planning.exact.exact import Exact
from rheostat.reference.generators import fat, sequential
from rheostat.reference.networks import random_gaussian

SHAPES: dict[str, Callable[[int], Application]] = {"sequential": sequential, "fat": fat}
SEEDS = range(3)
LIMIT_SECONDS = 15.0


@dataclass(frozen=True)
class Case:
    """An instance of 7.3; the defaults are Table 2."""

    shape: str
    operators: int = 20
    nodes: int = 20
    capacity: float = 4.0
    """C_u."""
    need: float = 1.0
    """C_i."""

    def problem(self, seed: int) -> Problem:
        """With the network of this seed."""
        application, at = SHAPES[self.shape](self.operators), random_gaussian(self.nodes, seed)
        operators = tuple(replace(operator, resources=self.need) for operator in application.operators)
        members = tuple(replace(node, resources=self.capacity) for node in at.nodes)
        return Problem(
            replace(application, operators=operators),
            replace(at, nodes=members),
            OdpObjective(1.0),
            limits=Limits(LIMIT_SECONDS),
        )


@dataclass(frozen=True)
class Taken:
    """What the plans of a case took, one per seed."""

    case: Case
    outcomes: tuple[Outcome, ...]
    wall: tuple[float, ...]
    cpu: tuple[float, ...]

    @property
    def proven(self) -> int:
        """How many were proven in time."""
        return sum(outcome.status is PlanStatus.OPTIMAL for outcome in self.outcomes)

    @property
    def mean_cpu(self) -> float:
        """Mean seconds of processor time."""
        return float(np.mean(self.cpu))

    @property
    def told(self) -> str:
        """Mean wall-clock seconds, processor seconds, and proofs if any is missing."""
        words = f"{np.mean(self.wall):.2f} ({self.mean_cpu:.2f})"
        gaps = [outcome.gap for outcome in self.outcomes if outcome.status is not PlanStatus.OPTIMAL]
        missing = f"; {len(gaps)} not proven, gap at most {max(gaps):.1%}" if gaps else ""
        return words + missing


def taken(case: Case, planner: Planner | None = None, seeds: Iterable[int] = SEEDS) -> Taken:
    """Plans a case on every network."""
    solver, outcomes, walls, cpus = planner or Exact(explains=False), [], [], []
    for seed in seeds:
        problem = case.problem(seed)
        wall, cpu = perf_counter(), process_time()
        outcomes.append(solver.plan(problem))
        walls.append(perf_counter() - wall)
        cpus.append(process_time() - cpu)
    found = Taken(case, tuple(outcomes), tuple(walls), tuple(cpus))
    tell(f"{case}: {found.told}")
    return found


def warm_up() -> None:
    """Loads compiled code, which is no part of planning."""
    for shape in SHAPES:
        Exact(explains=False).plan(replace(Case(shape, 6, 5).problem(0)))
