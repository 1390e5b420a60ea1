"""The papers' own integer programs on HiGHS: reference for checking `exact`, and baseline of the benchmark.

ODP [ODP, eq. 9-16], with network metrics and bandwidth [ODP, eq. 17-23], and EDRP [EDRP, eq. 13-23] with both
downtime models are one program: a single placement is a multiset of one node. The graph of executors of S-ODP is an
application like any other (`model.graph.expansion`), its C_u = WS(u) x EPS_max a node's capacity.
"""

import itertools
from dataclasses import dataclass, field, replace
from math import inf, isfinite

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.outcome import Effort, Outcome, PlanStatus, answer, relative_gap
from rheostat.planning.contract.planner import SILENT, Progress, Unsuited
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.candidates import Candidates, all_candidates
from rheostat.planning.encoded.conflict import conflict_of
from rheostat.planning.encoded.encoded_problem import EncodedProblem, Indices
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.encoded.source_sink_paths import source_sink_paths
from rheostat.planning.encoded.stream_tables import StreamTable, stream_table
from rheostat.planning.solvers.mixed_integer_program import Answer, Program, Solution


@dataclass(frozen=True, slots=True)
class Milp:
    """Planner that writes the integer program and solves it with HiGHS."""

    by_paths: bool = True
    """One constraint per source-sink path, as printed; otherwise a completion time per operator."""
    pairwise_and: bool = False
    """y <= x_i, y <= x_j, y >= x_i + x_j - 1 instead of the printed sums (13)-(14), (20)-(21)."""
    explains: bool = True
    """Whether it explains the conflict in an infeasible problem."""

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """The optimum, or the best solution and bound of HiGHS when its time is over."""
        if problem.hop_ms:
            raise Unsuited("the papers' programs know no price of a hop: use Exact, or hop_ms=0")
        clock = Deadline(problem.limits.seconds)
        problem = normalised(problem)
        instance = EncodedProblem(problem)
        candidates = [all_candidates(instance, i) for i in range(len(instance.names))]
        effort = Effort(clock.seconds(), 0, sum(len(options) for options in candidates))
        if all(len(options) for options in candidates):
            model = write(self, instance, candidates)
            solution = model.program.solve(clock.left(), problem.limits.gap)
            effort = replace(effort, seconds=clock.seconds(), nodes_explored=solution.explored)
            if solution.answer is not Answer.INFEASIBLE:
                return _told(model, solution, effort, progress)
        conflict = conflict_of(problem, replace(self, explains=False)) if self.explains else ()
        return Outcome(PlanStatus.INFEASIBLE, effort=effort, conflict=conflict)


@dataclass
class MilpModel:
    """Integer program with the meaning of its variables."""

    instance: EncodedProblem
    candidates: list[Candidates]
    program: Program = field(default_factory=Program)
    x: list[Indices] = field(default_factory=list)
    """x_{i,𝒰}, per operator."""
    y: list[Indices] = field(default_factory=list)
    """y_{(i,j),(𝒰,𝒱)}, a matrix per stream."""
    tables: list[StreamTable] = field(default_factory=list)
    response_time: int = -1
    """r."""
    downtime: int = -1
    """t_D."""


def write(settings: Milp, instance: EncodedProblem, candidates: list[Candidates]) -> MilpModel:
    """The integer program, one family of constraints after the other."""
    model = MilpModel(instance, candidates)
    _variables(model)
    if settings.by_paths:
        _response_time_of_every_path(model)
    else:
        _completion_times(model)
    _downtime_of_every_operator(model)
    _restart_of_everything(model)
    _bounds(model)
    _fit_in_every_node(model)
    _fit_in_every_link(model)
    _deploy_every_operator_once(model)
    if settings.pairwise_and:
        _streams_follow_by_pairs(model)
    else:
        _streams_follow_by_sums(model)
    return model


def _variables(model: MilpModel) -> None:
    """x, y ∈ {0, 1}, r and t_D with their share of F' [ODP, eq. 9, 15, 16, 22; EDRP, eq. 12, 22, 23].

    r <= R_max and t_D <= T_D,max are bounds of these two variables [EDRP, eq. 15, 17].
    """
    instance, factors = model.instance, model.instance.coefficients
    for options in model.candidates:
        model.x.append(model.program.binaries(options.term))
    for stream, (i, j) in enumerate(instance.edges.tolist()):
        table = stream_table(instance, stream, model.candidates[i], model.candidates[j])
        model.tables.append(table)
        model.y.append(model.program.binaries(table.term).reshape(table.term.shape))
    bounds = instance.problem.objective.bounds
    model.response_time = model.program.continuous(factors.response, bounds.response_time_ms)
    model.downtime = model.program.continuous(factors.downtime, bounds.downtime_seconds)


def _response_time_of_every_path(model: MilpModel) -> None:
    """r >= Σ R_i + Σ D_(i,j) along every path π [ODP, eq. 10; EDRP, eq. 13]."""
    streams = {(i, j): e for e, (i, j) in enumerate(model.instance.edges.tolist())}
    for path in source_sink_paths(len(model.x), list(streams)):
        columns, factors = [np.array([model.response_time])], [np.ones(1)]
        for i in path:
            columns.append(model.x[i])
            factors.append(-model.candidates[i].latency)
        for ends in itertools.pairwise(path):
            columns.append(model.y[streams[ends]].ravel())
            factors.append(-model.tables[streams[ends]].delay.ravel())
        model.program.require(0.0, np.concatenate(columns), np.concatenate(factors))


def _completion_times(model: MilpModel) -> None:
    """A variable e_j per operator instead of a row per path: e_j >= e_i + D_(i,j) + R_j, r >= e_j.

    Differs: not in the papers; a graph may have exponentially many paths.
    """
    finished = [model.program.continuous(0.0) for _ in model.x]
    for j, options in enumerate(model.candidates):
        model.program.require(0.0, [finished[j], *model.x[j]], [1.0, *-options.latency])
        model.program.require(0.0, [model.response_time, finished[j]], [1.0, -1.0])
    for table, y, (i, j) in zip(model.tables, model.y, model.instance.edges.tolist(), strict=True):
        columns = [np.array([finished[j], finished[i]]), model.x[j], y.ravel()]
        factors = [np.array([1.0, -1.0]), -model.candidates[j].latency, -table.delay.ravel()]
        model.program.require(0.0, np.concatenate(columns), np.concatenate(factors))


def _downtime_of_every_operator(model: MilpModel) -> None:
    """t_D >= Σ_𝒱 t_D(i, 𝒰_{0,i}, 𝒱) x_{i,𝒱} [EDRP, eq. 14]."""
    if model.instance.current is None:
        return
    for x, options in zip(model.x, model.candidates, strict=True):
        model.program.require(0.0, [model.downtime, *x], [1.0, *-options.downtime])


def _restart_of_everything(model: MilpModel) -> None:
    """z >= x_{i,𝒱} for every 𝒱 that is not 𝒰_{0,i}, and t_D >= t_{D,R} z: one change restarts all [EDRP, eq. 33]."""
    instance = model.instance
    if instance.current is None or instance.restart_seconds == 0:
        return
    (anything,) = model.program.binaries([0.0])
    for x, options, current in zip(model.x, model.candidates, instance.current, strict=True):
        changed = [column for row, column in enumerate(x) if options.chosen(row) != current]
        if changed:
            model.program.require(0.0, [anything, *changed], [1.0, *[-1.0] * len(changed)])
    model.program.require(0.0, [model.downtime, anything], [1.0, -instance.restart_seconds])


def _bounds(model: MilpModel) -> None:
    """C <= C_max [EDRP, eq. 16], and the least availability."""
    instance, bounds = model.instance, model.instance.problem.objective.bounds
    columns = np.concatenate([*model.x, *(y.ravel() for y in model.y)])
    if isfinite(bounds.cost_per_hour):
        replicas = [c.size * instance.replica_prices[i] for i, c in enumerate(model.candidates)]
        prices = np.concatenate([*replicas, *(table.price.ravel() for table in model.tables)])
        model.program.require(-inf, columns, prices, bounds.cost_per_hour)
    if bounds.availability > 0:
        logs = instance.problem.infrastructure.log_availabilities
        replicas = [options.counts(len(logs)) @ logs for options in model.candidates]
        total = np.concatenate([*replicas, *(table.log_availability.ravel() for table in model.tables)])
        model.program.require(instance.log_availability_bound, columns, total)


def _fit_in_every_node(model: MilpModel) -> None:
    """Σ_i Σ_𝒰 𝒰(u) Res_i x_{i,𝒰} <= Res_u for every node u [ODP, eq. 11; EDRP, eq. 18].

    Differs: the printed EDRP sum runs over 𝒫(V_res^i) without its k_i.
    """
    capacities = model.instance.problem.infrastructure.capacities
    taken = [c.counts(len(capacities)) * model.instance.resources[i] for i, c in enumerate(model.candidates)]
    columns = np.concatenate(model.x)
    for u, capacity in enumerate(capacities):
        model.program.require(-inf, columns, np.concatenate([counts[:, u] for counts in taken]), float(capacity))


def _fit_in_every_link(model: MilpModel) -> None:
    """Σ_(i,j) λ_(i,j) y_{(i,j),(u,v)} <= B_(u,v) for every pair of nodes [ODP, eq. 17, 23].

    For multisets the share of the pair: λ 𝒰(u)𝒱(v) / (|𝒰||𝒱|).
    """
    instance = model.instance
    limits = instance.problem.infrastructure.network.bandwidth_tps
    shares = [options.counts(len(limits)) / options.size[:, None] for options in model.candidates]
    for u, v in np.argwhere(np.isfinite(limits)):
        loads = [
            rate * np.outer(shares[i][:, u], shares[j][:, v]).ravel()
            for rate, (i, j) in zip(instance.rates, instance.edges.tolist(), strict=True)
        ]
        if loads:
            columns = np.concatenate([y.ravel() for y in model.y])
            model.program.require(-inf, columns, np.concatenate(loads), float(limits[u, v]))


def _deploy_every_operator_once(model: MilpModel) -> None:
    """Σ_𝒰 x_{i,𝒰} = 1 for every operator i [ODP, eq. 12; EDRP, eq. 19]."""
    for x in model.x:
        model.program.require(1.0, x, np.ones(len(x)), 1.0)


def _streams_follow_by_sums(model: MilpModel) -> None:
    """x_{i,𝒰} = Σ_𝒱 y and x_{j,𝒱} = Σ_𝒰 y for every stream [ODP, eq. 13, 14; EDRP, eq. 20, 21].

    Differs: the printed (21) has k_u for k_i.
    """
    for y, (i, j) in zip(model.y, model.instance.edges.tolist(), strict=True):
        for x, rows in ((model.x[i], y), (model.x[j], y.T)):
            for column, row in zip(x, rows, strict=True):
                model.program.require(0.0, np.append(row, column), np.append(np.ones(len(row)), -1.0), 0.0)


def _streams_follow_by_pairs(model: MilpModel) -> None:
    """y <= x_i, y <= x_j, y >= x_i + x_j - 1: the formulation that ODP says is ten times slower [ODP 4.2]."""
    for y, (i, j) in zip(model.y, model.instance.edges.tolist(), strict=True):
        for (row, column), pair in np.ndenumerate(y):
            source, target = model.x[i][row], model.x[j][column]
            model.program.require(-inf, [pair, source], [1.0, -1.0], 0.0)
            model.program.require(-inf, [pair, target], [1.0, -1.0], 0.0)
            model.program.require(-1.0, [pair, source, target], [1.0, -1.0, -1.0])


def _told(model: MilpModel, solution: Solution, effort: Effort, progress: Progress) -> Outcome:
    """The outcome of HiGHS, in the objective's own units."""
    instance = model.instance
    bound = None
    if isfinite(solution.bound):
        bound = instance.own_terms(solution.bound + instance.coefficients.constant)
    if solution.values is None:
        return Outcome(PlanStatus.NO_ANSWER, bound=bound, effort=effort)
    values = solution.values
    rows = [int(np.argmax(values[x])) for x in model.x]
    chosen = [options.chosen(row) for options, row in zip(model.candidates, rows, strict=True)]
    outcome = answer(instance.problem, instance.deployment(chosen), bound, effort)
    if outcome.objective is not None and bound is not None:
        progress.report(outcome.objective, bound, relative_gap(outcome.objective, bound))
    return outcome
