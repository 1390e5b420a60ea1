"""Repeatable random numbers: all randomness of a row follows from the seed and the row's index."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

Thing = TypeVar("Thing")

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


class Draw:
    """Row to be generated: its index, its event time, and its own stream of random numbers.

    >>> Draw(seed=1, index=7).below(100) == Draw(seed=1, index=7).below(100)
    True
    """

    __slots__ = ("_state", "event_time_us", "index", "is_last")

    def __init__(self, seed: int, index: int, event_time_us: int = 0, *, is_last: bool = False) -> None:
        self.index, self.event_time_us, self.is_last = index, event_time_us, is_last
        self._state = _mixed(_mixed(seed * _GOLDEN + 1) + index * _GOLDEN)

    def bits(self) -> int:
        """64 random bits: splitmix64, an order of magnitude faster to set up than Python's own generator."""
        self._state = (self._state + _GOLDEN) & _MASK
        return _mixed(self._state)

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return (self.bits() >> 11) * 2.0**-53

    def below(self, end: int) -> int:
        """An integer in [0, end)."""
        return self.bits() * end >> 64

    def between(self, least: int, greatest: int) -> int:
        """An integer from `least` to `greatest`, including both."""
        return least + self.below(greatest - least + 1)

    def pick(self, things: Sequence[Thing]) -> Thing:
        """A random element of a sequence."""
        return things[self.below(len(things))]


class Zipf:
    """Random integers below `size`; k has a probability proportional to (k + 1) ** -exponent.

    >>> popular = Zipf(1000)
    >>> popular.rank(0.0), popular.rank(0.999) > 900
    (0, True)
    """

    def __init__(self, size: int, exponent: float = 1.0) -> None:
        if size < 1:
            raise ValueError(f"there is at least one thing to draw, got {size}")
        self._cumulative = list(accumulate((rank + 1) ** -exponent for rank in range(size)))

    def rank(self, uniform: float) -> int:
        """The integer that corresponds to a uniform number in [0, 1)."""
        found = bisect_left(self._cumulative, uniform * self._cumulative[-1])
        return min(found, len(self._cumulative) - 1)

    def draw(self, chance: Draw) -> int:
        """A random integer."""
        return self.rank(chance.uniform())


def _mixed(bits: int) -> int:
    bits &= _MASK
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _MASK
    return bits ^ (bits >> 31)
