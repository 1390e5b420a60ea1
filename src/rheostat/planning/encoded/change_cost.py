"""Lower bound on the cost of any change, known before a multiset is generated.

It lets the search prove early that keeping the current deployment is best. A change either only removes replicas (there
are few such multisets; they are listed), or it starts at least one replica somewhere; that costs at least what each
downtime model says below. A start on a node that the operator uses already may take less than one elsewhere: where
these are few, they are listed as well.
"""

from itertools import combinations_with_replacement, product

from rheostat.model.downtime.full_restart import FullRestart
from rheostat.model.downtime.measured_pauses import Measured
from rheostat.model.downtime.pause_and_resume import PauseAndResume, code_download_seconds
from rheostat.planning.encoded.candidates import Candidates, candidates_of, is_possible, number_of_multisets
from rheostat.planning.encoded.encoded_problem import EncodedProblem

_FEW = 100
"""Up to this many multisets on the current nodes of an operator are listed."""


def least_start_seconds(instance: EncodedProblem) -> float:
    """Lower bound of T_D for all changes not listed by `without_starts`; 0 if the downtime model is unknown."""
    if instance.current is None:
        return 0.0
    model, nodes = instance.problem.downtime, instance.problem.infrastructure.nodes
    spawn = min(node.spawn_seconds for node in nodes)
    least = 0.0
    if isinstance(model, PauseAndResume | FullRestart):
        # Every new replica is spawned on some v, and v is in one of the pairs of nodes that exchange data.
        least = model.sync_seconds + spawn
        if _lists_all_here(instance):
            least = model.sync_seconds + _least_new_seconds(instance)
    elif isinstance(model, Measured):
        least = min((pause.fixed_seconds for pause in (*model.pauses.values(), model.unknown)), default=0.0)
    return max(least, instance.restart_seconds)


def without_starts(instance: EncodedProblem) -> list[Candidates]:
    """For every operator, the current deployment and what remains of it if replicas are removed.

    Where the cost of a node that is new to an operator is known, all multisets without such a node.
    """
    found = []
    for i, current in enumerate(instance.current or []):
        nodes = sorted(set(current))
        counts = product(*(range(current.count(u) + 1) for u in nodes))
        here = [tuple(u for u, n in zip(nodes, count, strict=True) for _ in range(n)) for count in counts]
        if _lists_all_here(instance):
            most = _most_replicas(instance, i)
            here = [m for size in range(1, most + 1) for m in combinations_with_replacement(nodes, size)]
        found.append(candidates_of(instance, i, [m for m in here if m and _is_allowed(instance, i, m)]))
    return found


def _lists_all_here(instance: EncodedProblem) -> bool:
    """Whether a higher bound than that of a start pays: downtime is weighed and known, the rest can be listed."""
    if instance.coefficients.downtime <= 0 or not isinstance(instance.problem.downtime, PauseAndResume):
        return False
    current = instance.current or []
    return all(number_of_multisets(len(set(c)), _most_replicas(instance, i)) <= _FEW for i, c in enumerate(current))


def _least_new_seconds(instance: EncodedProblem) -> float:
    """Least cost of a replica on a node that is new to its operator: code download before the start [EDRP, eq. 27]."""
    at = instance.problem.infrastructure
    return min(
        code_download_seconds(at, operator, node.name) + node.spawn_seconds
        for operator in instance.problem.application.operators
        for node in at.nodes
    )


def _most_replicas(instance: EncodedProblem, operator: int) -> int:
    return instance.problem.application.by_name[instance.names[operator]].max_replicas


def _is_allowed(instance: EncodedProblem, operator: int, nodes: tuple[int, ...]) -> bool:
    options = instance.problem.restriction.get(instance.names[operator])
    return is_possible(instance, operator, nodes) and (options is None or instance.replicas(nodes) in options)
