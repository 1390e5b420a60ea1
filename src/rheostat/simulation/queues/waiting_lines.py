"""Waiting lines in front of operators: how many tuples wait, since when, and their age on arrival.

First come, first served: the n-th tuple that arrives is the n-th that is served. So the curves of arrived and of served
tuples tell how long every tuple waited, without an account of single tuples. The age of a tuple travels with it in the
same way: a tuple that waited at the source for ten seconds is ten seconds old at the sink, though the line at the
source is empty by then.
"""

from dataclasses import dataclass

import numpy as np

from rheostat.simulation.queues.queue_formulas import Values


@dataclass(frozen=True, slots=True)
class Ages:
    """Means and variances in seconds, per step, of the ages of the step's tuples."""

    mean: Values
    variance: Values

    @property
    def square(self) -> Values:
        """The mean of the squares."""
        return self.variance + self.mean**2

    def later(self, mean: Values | float, variance: Values | float) -> "Ages":
        """The ages after a further time with this mean and variance, independent of the time before."""
        return Ages(self.mean + mean, self.variance + variance)

    def or_later(self, other: "Ages") -> "Ages":
        """Per step the ages that are larger on average: a tuple is complete when the last of its parts is."""
        longer = other.mean > self.mean
        return Ages(np.where(longer, other.mean, self.mean), np.where(longer, other.variance, self.variance))

    @classmethod
    def none(cls, steps: int) -> "Ages":
        """Zero ages."""
        return cls(np.zeros(steps), np.zeros(steps))

    @classmethod
    def of_moments(cls, mean: Values, square: Values) -> "Ages":
        """The ages with these means and means of squares."""
        return cls(mean, np.maximum(square - mean**2, 0.0))


class WaitingLine:
    """Tuples waiting in front of an operator, as curves over their arrival times."""

    def __init__(self) -> None:
        self._moments = np.zeros(1)
        self._sums = np.zeros((3, 1))
        """Cumulative by arrival time: tuples, the sum of their ages on arrival, and of the squares of these."""

    @property
    def waiting(self) -> float:
        """Number of waiting tuples."""
        return float(self._sums[0, -1])

    def oldest(self, now: float) -> float:
        """Arrival time of the first waiting tuple; now, if none waits."""
        return float(self._moments[0]) if self.waiting > 0.0 else now

    def clear(self, now: float) -> None:
        """Empties the line: all tuples were served at once."""
        self._moments, self._sums = np.array([now]), np.zeros((3, 1))

    def pass_through(self, edges: Values, arrivals: Values, waiting: Values, came: Ages) -> tuple[Ages, Ages]:
        """Waiting times here of the tuples served in every step, and their ages on arrival.

        `arrivals` are tuples in every step, `came` their ages, `waiting` those left at its end.
        """
        if self.waiting == 0.0:
            if not waiting.any():
                return Ages.none(len(arrivals)), came
            self.clear(float(edges[0]))
        moments = np.concatenate([self._moments, edges[1:]])
        added = np.cumsum([arrivals, arrivals * came.mean, arrivals * came.square], axis=1)
        sums = np.concatenate([self._sums, self._sums[:, -1:] + added], axis=1)
        first = len(self._moments)
        served = np.concatenate([[0.0], np.maximum(sums[0, first:] - waiting, 0.0)])
        since = np.maximum(edges - np.interp(served, sums[0], moments), 0.0)
        before = np.concatenate([[self.waiting], waiting[:-1]])
        number = np.diff(served)
        waited = _waited(since, before, waiting, number)
        carried = [np.diff(np.interp(served, sums[0], column)) / np.maximum(number, 1e-12) for column in sums[1:]]
        self._keep(moments, sums, float(served[-1]), float(waiting[-1]))
        return waited, Ages.of_moments(carried[0], carried[1])

    def _keep(self, moments: Values, sums: Values, served: float, waiting: float) -> None:
        """Removes the served tuples from the curves."""
        if waiting <= 0.0:
            self.clear(float(moments[-1]))
            return
        first = max(int(np.searchsorted(sums[0], served, side="right")) - 1, 0)
        gone = np.array([[float(np.interp(served, sums[0], column))] for column in sums])
        self._moments = moments[first:].copy()
        self._moments[0] = float(np.interp(served, sums[0], moments))
        self._sums = np.maximum(sums[:, first:] - gone, 0.0)

    def restart(self, waiting: float, oldest: float, now: float) -> None:
        """Sets the number of waiting tuples after a change of layout; the first of them arrived at `oldest`."""
        if waiting <= 0.0:
            self.clear(now)
        elif self.waiting > 0.0 and self._moments[0] <= oldest:
            self._sums = self._sums * (waiting / self.waiting)
        else:
            factor = waiting / self.waiting if self.waiting > 0.0 else 0.0
            sums = np.array([[waiting], *(self._sums[1:, -1:] * factor)])
            self._moments, self._sums = np.array([oldest, now]), np.concatenate([np.zeros((3, 1)), sums], axis=1)


def _waited(since: Values, before: Values, after: Values, number: Values) -> Ages:
    """Waiting times of the tuples served in each step, from that of the first to that of the last.

    Where the line ends within a step, tuples that arrived after its end did not wait.
    """
    first, last = since[:-1], np.where(after > 0.0, since[1:], 0.0)
    first = np.where(before > 0.0, first, 0.0)
    share = np.where(after > 0.0, 1.0, np.minimum(before / np.maximum(number, 1e-12), 1.0))
    mean = share * (first + last) / 2
    return Ages.of_moments(mean, share * (first**2 + first * last + last**2) / 3)
