"""Small random problems by seed: general graphs, asymmetric delays, different nodes, pins, candidates, links, bounds.

Numbers are drawn from continuous ranges, so that no bound is met exactly and solvers with different tolerances agree
on what is feasible.
"""

from dataclasses import replace

import numpy as np

from rheostat.model.downtime.downtime_model import DowntimeModel
from rheostat.model.downtime.full_restart import FullRestart
from rheostat.model.downtime.measured_pauses import ChangeWay, Measured, Pause
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.latency import MM1, Constant
from rheostat.model.network.links import Link, LinkQuality
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node, StoreAccess
from rheostat.model.quality.objective import Bounds, EdrpObjective, Objective, OdpObjective
from rheostat.model.quality.qos import NetworkMetric
from rheostat.planning.contract.problem import Problem

FAMILIES = ("odp", "odp network", "edrp pause", "edrp restart", "edrp measured")


def random_problem(family: str, seed: int) -> Problem:
    """A problem of one family; about one in eight is infeasible."""
    rng = np.random.default_rng([FAMILIES.index(family), seed])
    most = 1 if family == "odp" and rng.random() < 0.5 else 2
    nodes, operators = int(rng.integers(2, 5)), int(rng.integers(2, 5 if most == 2 else 6))
    infrastructure = _infrastructure(rng, nodes, bandwidth=family == "odp network")
    application = _application(rng, operators, infrastructure, most)
    if seed % 3 == 2:
        application = _confined(application, infrastructure, seed)
    current = _deployment(rng, application, infrastructure) if family.startswith("edrp") else None
    return Problem(application, infrastructure, _objective(rng, family), current, _downtime(rng, family))


def _infrastructure(rng: np.random.Generator, size: int, *, bandwidth: bool) -> Infrastructure:
    nodes = tuple(
        Node(
            f"n{u}",
            resources=float(rng.integers(1, 5)),
            speedup=float(rng.uniform(0.5, 2.0)),
            availability=float(rng.uniform(0.9, 1.0)),
            spawn_seconds=float(rng.uniform(0.1, 1.0)),
        )
        for u in range(size)
    )
    store = StoreAccess("n0" if rng.random() < 0.3 else None)
    if rng.random() < 0.5:
        quality = LinkQuality(price=float(rng.uniform(0, 0.01)), availability=float(rng.uniform(0.97, 1)))
        delays = DelayMatrix.of(rng.uniform(1, 40, (size, size)))
        return Infrastructure("matrix", nodes, delays_ms=delays, default_link=quality, store=store)
    links = tuple(
        Link(
            f"n{u}",
            f"n{v}",
            LinkQuality(
                delay_ms=float(rng.uniform(1, 40)),
                price=float(rng.uniform(0, 0.01)),
                availability=float(rng.uniform(0.95, 1)),
                bandwidth_tps=float(rng.uniform(40, 400)) if bandwidth else float("inf"),
            ),
            both_ways=False,
        )
        for u in range(size)
        for v in range(size)
        if u != v and ((v - u) % size == 1 or rng.random() < 0.6)
    )
    return Infrastructure("links", nodes, links, store=store)


def _application(rng: np.random.Generator, size: int, infrastructure: Infrastructure, most: int) -> Application:
    edges = [(i, j) for i in range(size) for j in range(i + 1, size) if rng.random() < 0.45]
    fed, feeding = {j for _, j in edges}, {i for i, _ in edges}
    operators = tuple(_operator(rng, i, (i in fed, i in feeding), infrastructure, most) for i in range(size))
    streams = tuple(Stream(f"o{i}", f"o{j}", selectivity=float(rng.uniform(0.3, 1.2))) for i, j in edges)
    return Application("random", tuple(rng.permutation(np.array(operators, dtype=object))), streams)


def _operator(
    rng: np.random.Generator, i: int, role: tuple[bool, bool], infrastructure: Infrastructure, most: int
) -> Operator:
    fed, feeding = role
    names = [node.name for node in infrastructure.nodes]
    kind = Kind.SOURCE if not fed else Kind.SINK if not feeding else Kind(rng.choice(["stateless", "stateful"]))
    latency = MM1(float(rng.uniform(60, 400))) if rng.random() < 0.7 else Constant(float(rng.uniform(1, 30)))
    least = 2 if most == 2 and rng.random() < 0.1 else 1
    return Operator(
        f"o{i}",
        kind,
        key=("k",) if kind is Kind.STATEFUL else (),
        min_replicas=least,
        max_replicas=max(least, int(rng.integers(1, most + 1))),
        pin=str(rng.choice(names)) if rng.random() < 0.15 else None,
        candidates=(),
        resources=float(rng.choice([0.5, 1.0, 1.5])),
        cost_per_hour=float(rng.uniform(0.5, 2.0)),
        code_bytes=int(rng.integers(0, 10_000_000)),
        state_bytes=int(rng.integers(0, 50_000_000)) if kind is Kind.STATEFUL else 0,
        latency=latency,
        rate_tps=float(rng.uniform(20, 150)) if kind is Kind.SOURCE else 0.0,
    )


def _confined(application: Application, infrastructure: Infrastructure, seed: int) -> Application:
    """Some operators may run on some nodes only."""
    rng = np.random.default_rng(seed)
    names = [node.name for node in infrastructure.nodes]
    confined = []
    for operator in application.operators:
        some = tuple(str(u) for u in rng.choice(names, len(names) - 1, replace=False))
        confined.append(replace(operator, candidates=some) if operator.pin is None and rng.random() < 0.4 else operator)
    return replace(application, operators=tuple(confined))


def _deployment(
    rng: np.random.Generator, application: Application, infrastructure: Infrastructure
) -> Deployment | None:
    if rng.random() < 0.15:
        return None
    placed = {}
    for operator in application.operators:
        nodes = [node.name for node in infrastructure.nodes if operator.may_run_on(node.name)]
        count = int(rng.integers(operator.min_replicas, operator.max_replicas + 1))
        placed[operator.name] = Replicas.on(*(str(u) for u in rng.choice(nodes, count)))
    return Deployment.of(placed)


def _objective(rng: np.random.Generator, family: str) -> Objective:
    weights = rng.dirichlet(np.ones(3))
    if rng.random() < 0.3:
        weights = np.eye(3)[rng.integers(3)]
    first, second, third = (float(w) for w in weights)
    maybe = Bounds(
        response_time_ms=float(rng.uniform(20, 200)) if rng.random() < 0.4 else float("inf"),
        cost_per_hour=float(rng.uniform(4, 15)) if rng.random() < 0.3 else float("inf"),
        availability=float(rng.uniform(0.4, 0.8)) if rng.random() < 0.3 else 0.0,
    )
    if family == "odp":
        return OdpObjective(first + third, second, bounds=maybe)
    if family == "odp network":
        return OdpObjective(first, second, third, NetworkMetric(rng.choice(list(NetworkMetric))), bounds=maybe)
    tight = rng.random() < 0.3
    bounds = replace(
        maybe,
        response_time_ms=float(rng.uniform(40, 120)) if tight else 400.0,
        cost_per_hour=float(rng.uniform(5, 15)) if tight else 60.0,
        downtime_seconds=float(rng.uniform(2, 9)) if rng.random() < 0.4 else 50.0,
    )
    return EdrpObjective(first, second, third, bounds)


def _downtime(rng: np.random.Generator, family: str) -> DowntimeModel:
    if family == "edrp restart":
        return FullRestart(float(rng.uniform(0, 6)))
    if family == "edrp measured":
        pauses = {
            way: Pause(float(rng.uniform(0, 3)), float(rng.uniform(0, 0.2))) for way in ChangeWay if rng.random() < 0.8
        }
        return Measured(pauses)
    return PauseAndResume(float(rng.uniform(0, 1)))
