"""Sets of key groups and their text: "0-7,9"."""

from collections.abc import Iterable
from itertools import pairwise

Groups = frozenset[int]

EVERY = -1
"""Stands for "all groups" where a row's group is stored: the row is broadcast."""


def group_range(count: int) -> Groups:
    """The groups 0 to count - 1."""
    return frozenset(range(count))


def parse_groups(text: str) -> Groups:
    """The set a text stands for.

    >>> sorted(parse_groups("0-2,9"))
    [0, 1, 2, 9]
    """
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        low, dash, high = part.strip().partition("-")
        found.update(range(int(low), int(high if dash else low) + 1))
    return frozenset(found)


def format_groups(groups: Iterable[int]) -> str:
    """The shortest text for a set; equal sets give equal texts.

    >>> format_groups({9, 1, 0, 2})
    '0-2,9'
    """
    ordered = sorted(set(groups))
    if not ordered:
        return ""
    breaks = [index + 1 for index, (left, right) in enumerate(pairwise(ordered)) if right != left + 1]
    runs = pairwise([0, *breaks, len(ordered)])
    return ",".join(
        str(ordered[start]) if stop == start + 1 else f"{ordered[start]}-{ordered[stop - 1]}" for start, stop in runs
    )
