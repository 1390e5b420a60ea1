"""Candidates: the multisets of nodes that an operator can run on, with the cost of each."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from rheostat.model.downtime.downtime_model import operator_downtime_seconds
from rheostat.planning.encoded.encoded_problem import TOLERANCE, EncodedProblem, Indices, Values


@dataclass(frozen=True)
class Candidates:
    """Candidate deployments of one operator, one per row."""

    nodes: Indices
    """Node numbers in ascending order, one per replica, padded with -1."""
    size: Indices
    """|𝒰|: number of replicas."""
    latency: Values
    """R_{i,𝒰} in milliseconds."""
    term: Values
    """Share of F that the replicas contribute by themselves, without response time and downtime."""
    downtime: Values
    """t_D in seconds; 0 for the current deployment, or if there is none."""

    def __len__(self) -> int:
        return len(self.size)

    def chosen(self, row: int) -> tuple[int, ...]:
        """The node numbers of a row."""
        return tuple(int(u) for u in self.nodes[row, : self.size[row]])

    def counts(self, nodes: int) -> Values:
        """𝒰(u), a row per candidate and a column per node."""
        table = np.zeros((len(self), nodes))
        for column in range(self.nodes.shape[1]):
            rows = np.nonzero(self.nodes[:, column] >= 0)[0]
            np.add.at(table, (rows, self.nodes[rows, column]), 1.0)
        return table

    def rows(self, keep: Indices) -> "Candidates":
        """The candidates of the given rows."""
        return Candidates(self.nodes[keep], self.size[keep], self.latency[keep], self.term[keep], self.downtime[keep])


def number_of_multisets(nodes: int, most: int, least: int = 1) -> int:
    """|𝒫(V; k)|: the number of multisets of at least `least` and at most `most` nodes.

    >>> number_of_multisets(8, 2)
    44
    """
    return sum(comb(nodes + m - 1, m) for m in range(least, most + 1))


def all_candidates(instance: EncodedProblem, operator: int) -> Candidates:
    """𝒫(V_res^i; k_i) without multisets that do not fit or are saturated [EDRP 4.1]."""
    return candidates_of(instance, operator, list(multisets(instance, operator)))


def multisets(instance: EncodedProblem, operator: int) -> Iterator[tuple[int, ...]]:
    """Node numbers of every deployment that fits by itself."""
    name = instance.names[operator]
    description = instance.problem.application.by_name[name]
    possible: Iterator[tuple[int, ...]]
    if name in instance.problem.restriction:
        wanted = {instance.numbers(replicas) for replicas in instance.problem.restriction[name]}
        possible = iter(sorted(wanted, key=lambda nodes: (len(nodes), nodes)))
    else:
        nodes = [int(u) for u in np.nonzero(instance.allowed[operator])[0]]
        sizes = range(description.min_replicas, description.max_replicas + 1)
        possible = (chosen for m in sizes for chosen in combinations_with_replacement(nodes, m))
    return (chosen for chosen in possible if is_possible(instance, operator, chosen))


def is_possible(instance: EncodedProblem, operator: int, nodes: tuple[int, ...]) -> bool:
    """Whether a deployment is allowed, fits in its nodes by itself, and does not saturate the operator."""
    description = instance.problem.application.by_name[instance.names[operator]]
    if not description.min_replicas <= len(nodes) <= description.max_replicas:
        return False
    if not np.isfinite(instance.latencies[operator, len(nodes)]) or not instance.allowed[operator, list(nodes)].all():
        return False
    need, capacity = description.resources, instance.problem.infrastructure.capacities
    return all(nodes.count(u) * need <= capacity[u] + TOLERANCE for u in set(nodes))


def candidates_of(instance: EncodedProblem, operator: int, multisets: list[tuple[int, ...]]) -> Candidates:
    """The candidates for multisets of an operator, with their costs and downtimes."""
    table = np.full((len(multisets), instance.most_replicas), -1, dtype=np.int64)
    for row, nodes in enumerate(multisets):
        table[row, : len(nodes)] = nodes
    return replace(candidates_of_rows(instance, operator, table), downtime=downtimes(instance, operator, multisets))


def candidates_of_rows(instance: EncodedProblem, operator: int, table: Indices) -> Candidates:
    """The candidates for rows of node numbers padded with -1, with costs but without downtimes, which take long."""
    present = table >= 0
    size = present.sum(axis=1)
    speedups = np.where(present, instance.problem.infrastructure.speedups[table], np.inf)
    latency = instance.latencies[operator, size] / speedups.min(axis=1, initial=np.inf)
    term = np.where(present, instance.replica_terms[operator, table], 0.0).sum(axis=1)
    return Candidates(table, size, latency, term, np.zeros(len(table)))


def with_downtimes(instance: EncodedProblem, operator: int, options: Candidates) -> Candidates:
    """The candidates with effective downtimes: 0 for the current one, otherwise at least that of the restarts."""
    if instance.current is None:
        return options
    chosen = [options.chosen(row) for row in range(len(options))]
    stays = np.array([nodes == instance.current[operator] for nodes in chosen], dtype=bool)
    pause = np.where(stays, 0.0, np.maximum(downtimes(instance, operator, chosen), instance.restart_seconds))
    return replace(options, downtime=pause)


def downtimes(instance: EncodedProblem, operator: int, multisets: list[tuple[int, ...]]) -> Values:
    """t_D of every deployment [EDRP, eq. 11]."""
    situation = instance.situation
    if situation is None:
        return np.zeros(len(multisets))
    name, model, known = instance.names[operator], instance.problem.downtime, instance.known_downtimes[operator]
    for nodes in multisets:
        # The same multisets are asked for again below each limit.
        if nodes not in known:
            known[nodes] = operator_downtime_seconds(model, situation, name, instance.replicas(nodes))
    return np.array([known[nodes] for nodes in multisets])
