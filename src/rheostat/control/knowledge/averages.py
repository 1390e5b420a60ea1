"""Averages of samples over a sliding window, without samples that must not be believed.

A probe hands out every sample once, so all managers of an application share one `Averages`. A figure is its mean over
the last control period or so: a single sample of a burst does not describe an operator. Samples from the start or from
around a change are excluded. `rheostat status` shows the same averages over a shorter window.
"""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from math import inf

from rheostat.control.loop.ports import Probe
from rheostat.model.observation import FIGURES, Of, Sample, Subject

Reading = tuple[float, float]
"""Time of a measurement, and its value."""

LAST_COUNTS = frozenset({"backlog", "true_rate", "lag_seconds", "cpu_seconds", "state_rows", "state_bytes"})
"""Figures that are not averaged over time: the last value counts."""
USED = frozenset(
    {
        "input_rate",
        "output_rate",
        "utilization",
        "own_utilization",
        "latency_ms",
        "true_rate",
        "backlog",
        "cpu",
        "delay_ms",
        "availability",
        "response_mean_ms",
        "response_p50_ms",
        "response_p95_ms",
        "response_p99_ms",
    }
)
"""Figures that managers use; for them no others are kept."""
_OF_OPERATORS = frozenset({Of.OPERATOR, Of.INSTANCE})


@dataclass(slots=True)
class Readings:
    """Recent values of the figures of one application."""

    averaging_seconds: float = 30.0
    """Length of the window; with 0, the last value counts."""
    kept: Collection[str] = USED
    """Figures that are kept."""
    now_seconds: float = -inf
    """Time of the last call of `take`."""
    _readings: dict[Subject, dict[str, deque[Reading]]] = field(default_factory=dict)
    _excluded: float = -inf
    """Samples up to this time are not believed, of anything."""
    _excluded_operators: dict[str, float] = field(default_factory=dict)
    """Samples up to this time are not believed, by operator."""

    def take(self, samples: Iterable[Sample], now_seconds: float) -> None:
        """Adds new samples, and forgets those that have left the window."""
        self.now_seconds = now_seconds
        oldest = now_seconds - self.averaging_seconds
        for sample in samples:
            of_subject = self._readings.get(sample.subject)
            if of_subject is None:
                of_subject = self._readings[sample.subject] = {}
            for name, value in sample.figures.items():
                if name in self.kept:
                    readings = of_subject.get(name)
                    if readings is None:
                        readings = of_subject[name] = deque()
                    readings.append((sample.at_seconds, value))
                    # The last one is kept, however old, to tell the age of a figure.
                    while len(readings) > 1 and readings[0][0] <= oldest:
                        readings.popleft()

    def exclude(self, until_seconds: float, operators: Collection[str] | None = None) -> None:
        """Ignores samples up to a time: of these operators and of the response time, or of everything."""
        if operators is None:
            self._excluded = max(self._excluded, until_seconds)
            return
        for operator in operators:
            self._excluded_operators[operator] = max(self._excluded_operators.get(operator, -inf), until_seconds)

    def value(self, subject: Subject, figure: str) -> float | None:
        """Mean over the window; None if no value is recent enough to be believed."""
        readings = self._of(subject, figure)
        if not readings:
            return None
        newest, believed = self.now_seconds - FIGURES[figure].max_age_seconds, self._believed_after(subject)
        if readings[-1][0] < newest or readings[-1][0] <= believed:
            return None
        if figure in LAST_COUNTS:
            return readings[-1][1]
        after = max(self.now_seconds - self.averaging_seconds, believed)
        counted = [value for at, value in readings if at > after]
        return sum(counted) / len(counted) if counted else readings[-1][1]

    def silence(self, subject: Subject, figure: str) -> float | None:
        """Seconds since the last value of a figure; None if there was none."""
        readings = self._of(subject, figure)
        return self.now_seconds - readings[-1][0] if readings else None

    def _of(self, subject: Subject, figure: str) -> deque[Reading] | None:
        return self._readings.get(subject, {}).get(figure)

    def _believed_after(self, subject: Subject) -> float:
        if subject.of in _OF_OPERATORS:
            return max(self._excluded, self._excluded_operators.get(subject.names[0], -inf))
        if subject.of is Of.APPLICATION:
            return max(self._excluded, *self._excluded_operators.values(), -inf)
        return self._excluded


class Averages(Readings):
    """Readings that managers take from a probe."""

    def __init__(self, probe: Probe, averaging_seconds: float = 30.0) -> None:
        super().__init__(averaging_seconds)
        self.probe = probe

    def refresh(self, now_seconds: float) -> None:
        """Takes the samples that the probe has since the last call."""
        self.take(self.probe.samples(), now_seconds)
