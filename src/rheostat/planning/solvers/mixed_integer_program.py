"""Builder of mixed-integer programs, and the call of HiGHS that solves them."""

from dataclasses import dataclass, field
from enum import StrEnum
from math import inf, isfinite

import highspy
import numpy as np
from numpy.typing import ArrayLike

from rheostat.planning.encoded.encoded_problem import Indices, Values


class Answer(StrEnum):
    """Final state of the solver."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    STOPPED = "stopped"
    """Stopped by the time limit or the gap limit."""


@dataclass(frozen=True)
class Solution:
    """Result of the solver."""

    answer: Answer
    values: Values | None
    """Values of all variables, if there is a feasible solution."""
    bound: float
    """Lower bound of the objective."""
    explored: int
    """Explored nodes of the branch-and-bound tree."""


@dataclass
class Program:
    """Minimisation of c x subject to rows, with binary and continuous variables."""

    costs: list[Values] = field(default_factory=list)
    uppers: list[Values] = field(default_factory=list)
    integral: list[Values] = field(default_factory=list)
    columns: int = 0
    row_entries: list[tuple[Indices, Values]] = field(default_factory=list)
    row_bounds: list[tuple[float, float]] = field(default_factory=list)

    def binaries(self, costs: ArrayLike) -> Indices:
        """Adds variables in {0, 1} and returns their numbers."""
        return self._variables(np.asarray(costs, dtype=float).ravel(), 1.0, integral=True)

    def continuous(self, cost: float, upper: float = inf) -> int:
        """Adds a variable >= 0 and returns its number."""
        return int(self._variables(np.array([cost]), upper, integral=False)[0])

    def _variables(self, costs: Values, upper: float, *, integral: bool) -> Indices:
        self.costs.append(costs)
        self.uppers.append(np.full(len(costs), upper))
        self.integral.append(np.full(len(costs), float(integral)))
        numbers = np.arange(self.columns, self.columns + len(costs))
        self.columns += len(costs)
        return numbers

    def require(self, least: float, columns: ArrayLike, factors: ArrayLike, most: float = inf) -> None:
        """Adds the row least <= Σ factor x column <= most."""
        numbers, values = np.asarray(columns, dtype=np.int64).ravel(), np.asarray(factors, dtype=float).ravel()
        keep = values != 0
        self.row_entries.append((numbers[keep], values[keep]))
        self.row_bounds.append((least, most))

    def solve(self, seconds: float, gap: float) -> Solution:
        """Solves the program with HiGHS on one thread."""
        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("mip_rel_gap", max(gap, 1e-9))
        solver.setOptionValue("mip_abs_gap", 1e-9)
        if isfinite(seconds):
            solver.setOptionValue("time_limit", max(seconds, 1e-3))
        solver.passModel(self._model())
        solver.run()
        return _solution(solver, self.columns)

    def _model(self) -> highspy.HighsLp:
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = self.columns, len(self.row_bounds)
        model.col_cost_ = np.concatenate(self.costs)
        model.col_lower_ = np.zeros(self.columns)
        model.col_upper_ = np.concatenate(self.uppers)
        model.row_lower_ = np.array([least for least, _ in self.row_bounds])
        model.row_upper_ = np.array([most for _, most in self.row_bounds])
        lengths = [len(numbers) for numbers, _ in self.row_entries]
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        model.a_matrix_.index_ = np.concatenate([numbers for numbers, _ in self.row_entries]).astype(np.int32)
        model.a_matrix_.value_ = np.concatenate([values for _, values in self.row_entries])
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        model.integrality_ = [kinds[int(flag)] for flag in np.concatenate(self.integral)]
        return model


def _solution(solver: highspy.Highs, columns: int) -> Solution:
    status, info = solver.getModelStatus(), solver.getInfo()
    explored = int(info.mip_node_count)
    if status in {highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible}:
        return Solution(Answer.INFEASIBLE, None, inf, explored)
    found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    values = np.array(solver.getSolution().col_value[:columns]) if found else None
    bound = float(info.mip_dual_bound)
    proven = status == highspy.HighsModelStatus.kOptimal
    return Solution(
        Answer.OPTIMAL if proven else Answer.STOPPED, values, bound if abs(bound) < 1e29 else -inf, explored
    )
