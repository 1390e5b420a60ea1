"""What is known of an application now? Samples averaged over a while, less what must not be believed.

A probe hands out every sample once, so that all managers of an application share one monitor. Figures are means over
the last control period or so: a single sample of a burst is not how an operator does. What was measured at the start or
around a change says nothing about how things are, and is left out.
"""

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from math import inf

from rheostat.control.loop.ports import Probe
from rheostat.model.observation import FIGURES, Of, Subject

Reading = tuple[float, float]
"""When, and how much."""

LAST_COUNTS = frozenset({"backlog", "true_rate"})
"""Figures that are no averages over time: the last one counts."""
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
"""What managers look at; the rest is not kept."""
_OF_OPERATORS = frozenset({Of.OPERATOR, Of.INSTANCE})


@dataclass(slots=True)
class Averages:
    """Remembers what a probe has told of one application."""

    probe: Probe
    averaging_seconds: float = 30.0
    """How far back an average goes."""
    now_seconds: float = -inf
    _readings: dict[Subject, dict[str, deque[Reading]]] = field(default_factory=dict)
    _excluded: float = -inf
    """What was measured up to then is not believed, of nothing."""
    _excluded_operators: dict[str, float] = field(default_factory=dict)
    """What was measured up to then is not believed, of one operator."""

    def refresh(self, now_seconds: float) -> None:
        """Takes in what was measured since the last time."""
        self.now_seconds = now_seconds
        oldest = now_seconds - self.averaging_seconds
        for sample in self.probe.samples():
            of_subject = self._readings.get(sample.subject)
            if of_subject is None:
                of_subject = self._readings[sample.subject] = {}
            for name, value in sample.figures.items():
                if name in USED:
                    readings = of_subject.get(name)
                    if readings is None:
                        readings = of_subject[name] = deque()
                    readings.append((sample.at_seconds, value))
                    # The last one is kept, however old, to say since when nothing was heard.
                    while len(readings) > 1 and readings[0][0] <= oldest:
                        readings.popleft()

    def exclude(self, until_seconds: float, operators: Collection[str] | None = None) -> None:
        """What is measured up to then does not count: of these operators and of the response time, or of anything."""
        if operators is None:
            self._excluded = max(self._excluded, until_seconds)
            return
        for operator in operators:
            self._excluded_operators[operator] = max(self._excluded_operators.get(operator, -inf), until_seconds)

    def value(self, subject: Subject, figure: str) -> float | None:
        """The mean over the last while, or None if nothing is known that is young enough to be believed."""
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
        """For how many seconds nothing was heard of a figure; None if nothing ever was."""
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
