"""What does a change cost at least? Known before any multiset is generated, it makes staying win early.

A change either only removes replicas (there are few such multisets, they are listed), or it starts at least one
somewhere; that costs at least what each downtime model says below.
"""

from itertools import product

from rheostat.model.full_restart import FullRestart
from rheostat.model.measured import Measured
from rheostat.model.pause_and_resume import PauseAndResume
from rheostat.planning.candidates import Candidates, described, is_possible
from rheostat.planning.instance import Instance


def least_start_seconds(instance: Instance) -> float:
    """A lower bound of T_D if any operator starts a replica anywhere; 0 if the downtime model is not known."""
    if instance.current is None:
        return 0.0
    model = instance.problem.downtime
    spawn = min(node.spawn_seconds for node in instance.problem.infrastructure.nodes)
    least = 0.0
    if isinstance(model, PauseAndResume | FullRestart):
        # Every new replica is spawned on some v, and v is in one of the pairs of nodes that exchange data.
        least = model.sync_seconds + spawn
    elif isinstance(model, Measured):
        least = min((pause.fixed_seconds for pause in (*model.pauses.values(), model.unknown)), default=0.0)
    return max(least, instance.restart_seconds)


def only_removals(instance: Instance) -> list[Candidates]:
    """What runs now, and what is left of it when replicas are removed, for every operator."""
    found = []
    for i, current in enumerate(instance.current or []):
        nodes = sorted(set(current))
        counts = product(*(range(current.count(u) + 1) for u in nodes))
        subsets = [tuple(u for u, n in zip(nodes, count, strict=True) for _ in range(n)) for count in counts]
        found.append(described(instance, i, [m for m in subsets if m and _is_allowed(instance, i, m)]))
    return found


def _is_allowed(instance: Instance, operator: int, nodes: tuple[int, ...]) -> bool:
    options = instance.problem.restriction.get(instance.names[operator])
    return is_possible(instance, operator, nodes) and (options is None or instance.replicas(nodes) in options)
