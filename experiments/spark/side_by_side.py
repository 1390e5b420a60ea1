"""Comparison of a simulated and a real recording of one scenario, as a whole and part by part. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean

from rheostat.report.recording import Recording
from rheostat.report.run_summary import Exclusion, summarise


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure that was foreseen, and what it was."""

    name: str
    foreseen: float
    measured: float

    @property
    def error(self) -> float:
        """Relative to what it was; positive: too much was foreseen."""
        return self.foreseen / self.measured - 1 if self.measured else float("inf")


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of time, and what of the error of the mean lies in it."""

    name: str
    from_seconds: float
    to_seconds: float
    foreseen_ms: float
    measured_ms: float
    share: float
    """Of the time in which both are known."""

    @property
    def error_ms(self) -> float:
        """What it adds to the error of the mean over everything."""
        return self.share * (self.foreseen_ms - self.measured_ms)


def between(recording: Recording, from_seconds: float, to_seconds: float) -> Recording:
    """A part of a recording; moments keep their time."""
    kept = [i for i, at in enumerate(recording.seconds) if from_seconds < at <= to_seconds]

    def cut(series: Mapping[str, Sequence[float | None]]) -> dict[str, tuple[float | None, ...]]:
        return {name: tuple(values[i] for i in kept) for name, values in series.items()}

    return replace(
        recording,
        seconds=tuple(recording.seconds[i] for i in kept),
        series=cut(recording.series),
        replicas=cut(recording.replicas),
        latencies_ms=cut(recording.latencies_ms),
        notes=tuple(note for note in recording.notes if note.at_seconds <= to_seconds),
    )


def compared(foreseen: Recording, measured: Recording, operator: str, time: tuple[float, float]) -> list[Compared]:
    """Mean response time and mean replicas, of all operators and of one, over the same time of both."""
    begin, end = time
    found = [summarise(between(one, 0.0, end), Exclusion(begin)) for one in (foreseen, measured)]
    of_one = [
        mean(count or 0.0 for count in between(one, begin, end).replicas[operator]) for one in (foreseen, measured)
    ]
    return [
        Compared("mean response time, ms", *(one.mean_ms or 0.0 for one in found)),
        Compared("mean replicas", *(one.replicas for one in found)),
        Compared(f"mean replicas of {operator}", *of_one),
    ]


def parts(foreseen: Recording, measured: Recording, stretches: Sequence[tuple[str, float, float]]) -> list[Part]:
    """The mean response time of every stretch of time; those in which nothing came out are left out."""
    found = []
    for name, begin, end in stretches:
        means = [_mean_response(one, begin, end) for one in (foreseen, measured)]
        if means[0] is not None and means[1] is not None:
            found.append(Part(name, begin, end, means[0], means[1], end - begin))
    whole = sum(part.share for part in found)
    return [replace(part, share=part.share / whole) for part in found]


def _mean_response(recording: Recording, begin: float, end: float) -> float | None:
    known = zip(recording.seconds, recording.column("response_mean_ms"), strict=True)
    inside = [ms for at, ms in known if ms is not None and begin < at <= end]
    return sum(inside) / len(inside) if inside else None


def mean_latencies_ms(recording: Recording, begin: float, end: float) -> dict[str, float]:
    """Of every operator whose latency was recorded in a time."""
    found = {}
    for name, series in recording.latencies_ms.items():
        pairs = zip(recording.seconds, series, strict=True)
        inside = [ms for at, ms in pairs if ms is not None and begin < at <= end]
        if inside:
            found[name] = sum(inside) / len(inside)
    return found
