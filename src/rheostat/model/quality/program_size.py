"""Number of binary variables in the papers' integer programs for an application on given nodes.

Counting needs no solver and no program: it tells beforehand whether the program can be written down at all.
"""

from collections.abc import Collection
from dataclasses import dataclass
from math import comb

from rheostat.model.graph.application import Application, Operator


@dataclass(frozen=True, slots=True)
class ProgramSize:
    """Number of variables of a placement program."""

    operator_variables: int
    """x: one per operator and way to deploy it."""
    stream_variables: int
    """y: one per stream and pair of ways to deploy its ends."""

    @property
    def total(self) -> int:
        """All variables, as Table IV of EDRP counts them."""
        return self.operator_variables + self.stream_variables


def multisets(nodes: int, replicas: int) -> int:
    """|𝒫(V; k)| = Σ_{r=1..k} C(n+r-1, r) = C(n+k, k) - 1: ways to put 1 to k replicas on n nodes [EDRP 4.1].

    >>> multisets(8, 2), multisets(24, 4)
    (44, 20474)
    """
    if nodes < 0 or replicas < 0:
        raise ValueError(f"need nodes >= 0 and replicas >= 0, got {nodes} and {replicas}")
    return comb(nodes + replicas, replicas) - 1


def edrp_variables(application: Application, nodes: Collection[str]) -> ProgramSize:
    """Σ_i M_i variables x_{i,𝒰} and Σ_(i,j) M_i M_j variables y_{(i,j),(𝒰,𝒱)} [EDRP 5; 7.2, Table IV].

    M_i counts the multisets of i's candidate nodes (its pin alone, if it has one) with min_replicas to max_replicas
    elements. Differs: the paper knows no min_replicas; with 1 this is its set 𝒫(V_res^i; k_i).
    """
    return _sized(application, {op.name: _deployments(op, nodes) for op in application.operators})


def odp_variables(application: Application, nodes: Collection[str]) -> ProgramSize:
    """Σ_i |V_res^i| variables x_{i,u} and Σ_(i,j) |V_res^i| |V_res^j| variables y_{(i,j),(u,v)} [ODP 4; 7.3].

    Numbers of replicas do not matter: ODP places every operator of the graph it is given once.
    """
    return _sized(application, {op.name: _candidates(op, nodes) for op in application.operators})


def _sized(application: Application, choices: dict[str, int]) -> ProgramSize:
    pairs = sum(choices[stream.source] * choices[stream.target] for stream in application.streams)
    return ProgramSize(sum(choices.values()), pairs)


def _deployments(operator: Operator, nodes: Collection[str]) -> int:
    candidates = _candidates(operator, nodes)
    return multisets(candidates, operator.max_replicas) - multisets(candidates, operator.min_replicas - 1)


def _candidates(operator: Operator, nodes: Collection[str]) -> int:
    return sum(operator.may_run_on(node) for node in nodes)
