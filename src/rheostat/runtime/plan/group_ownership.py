"""Ownership of key groups after a change, with the least movement of state.

Rule of proportion: of G groups, an instance with U(u) of the operator's |U| replicas gets G·U(u)/|U| of them, rounded
down or up. A group can stay only where it is, so the least movement is simple: every instance keeps its largest groups
up to its share, and the rounding up goes to the instances that would otherwise have to give away most. No other
assignment moves less.
"""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor
from types import MappingProxyType

Ownership = Mapping[int, str]
"""Key group -> name of the instance that owns it."""


def least_movement(
    old: Ownership, replicas: Mapping[str, int], groups: int, sizes: Mapping[int, float] | None = None
) -> Ownership:
    """Shares the key groups 0..groups-1 among the new instances in proportion to their replicas.

    `old` may lack groups and name instances that are gone. `sizes` are bytes or rows per group, groups not named are
    empty; without it all are alike. Equal input gives equal output, and an ownership that has the right shares stays as
    it is.

    >>> dict(least_movement({0: "a", 1: "a", 2: "a", 3: "a"}, {"a": 1, "b": 1}, 4))
    {0: 'a', 1: 'a', 2: 'b', 3: 'b'}
    """
    _check(old, replicas, groups)
    weight = {group: float((sizes or {}).get(group, 0.0)) if sizes is not None else 1.0 for group in range(groups)}
    owned = {
        name: sorted((g for g in range(groups) if old.get(g) == name), key=lambda g: (-weight[g], g))
        for name in replicas
    }
    share = _shares(owned, weight, replicas, groups)
    new = {group: name for name, mine in owned.items() for group in mine[: share[name]]}
    left = {name: share[name] - min(share[name], len(owned[name])) for name in replicas}
    load = {name: sum(weight[group] for group in owned[name][: share[name]]) for name in replicas}
    for group in sorted((g for g in range(groups) if g not in new), key=lambda g: (-weight[g], g)):
        name = min((n for n in replicas if left[n]), key=lambda n: (load[n] / replicas[n], n))
        new[group] = name
        left[name] -= 1
        load[name] += weight[group]
    return MappingProxyType(dict(sorted(new.items())))


def moved(old: Ownership, new: Ownership) -> frozenset[int]:
    """The groups that change their owner."""
    return frozenset(group for group, name in new.items() if old.get(group) not in (None, name))


def groups_of(ownership: Ownership, instance: str) -> frozenset[int]:
    """The groups an instance owns."""
    return frozenset(group for group, name in ownership.items() if name == instance)


def _shares(
    owned: Mapping[str, list[int]], weight: Mapping[int, float], replicas: Mapping[str, int], groups: int
) -> dict[str, int]:
    """How many groups each instance gets. One rounding up is worth the group that need not leave because of it."""
    total = sum(replicas.values())
    exact = {name: Fraction(groups * count, total) for name, count in replicas.items()}
    share = {name: floor(value) for name, value in exact.items()}

    def worth(name: str) -> tuple[float, int, Fraction]:
        spared = owned[name][share[name] : share[name] + 1]
        return sum(weight[group] for group in spared), len(spared), exact[name] - share[name]

    divisible = sorted(
        (name for name in replicas if ceil(exact[name]) > share[name]), key=lambda n: (*(-w for w in worth(n)), n)
    )
    extra = groups - sum(share.values())
    return {name: count + (name in divisible[:extra]) for name, count in share.items()}


def _check(old: Ownership, replicas: Mapping[str, int], groups: int) -> None:
    if not replicas or any(count < 1 for count in replicas.values()):
        raise ValueError(f"every instance has at least one replica, got {dict(replicas)}")
    if sum(replicas.values()) > groups:
        raise ValueError(
            f"{sum(replicas.values())} replicas cannot share {groups} key groups: at most one replica per group"
        )
    if any(not 0 <= group < groups for group in old):
        raise ValueError(f"the old ownership names groups outside 0..{groups - 1}: {sorted(old)}")
