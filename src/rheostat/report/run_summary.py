"""Summary of a run in the numbers that the papers report."""

from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from rheostat.report.recording import Recording, Series

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Times that do not count: EDF leaves out the first half hour and two minutes after each reconfiguration."""

    warm_up_seconds: float = 0.0
    settle_seconds: float = 0.0

    def __post_init__(self) -> None:
        """Refuses what is no duration."""
        if not all(isfinite(x) and x >= 0 for x in (self.warm_up_seconds, self.settle_seconds)):
            raise ValueError(f"durations must be finite and >= 0, got {self}")


EVERYTHING = Exclusion()
EDF = Exclusion(1800.0, 120.0)
"""EDF 9, before Table 1."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The columns of EDF's Table 1, and what else one asks. A response time is None if nothing left in the time."""

    mean_ms: float | None
    p50_ms: float | None
    """Median over the moments of the run, as the paper's."""
    p95_ms: float | None
    violations: float | None
    """Share of the time in which the mean response time exceeds the objective; None without an objective."""
    replicas: float
    """On average over time."""
    nodes: float
    downtime: float
    """Share of the whole run that reconfigurations took."""
    reconfigurations: int
    cost: float
    """$ for the whole run."""


def summarise(recording: Recording, exclusion: Exclusion = EVERYTHING) -> Summary:
    """The averages over the time that counts; downtime, reconfigurations and cost over all of it."""
    lengths = np.diff([0.0, *recording.seconds])
    counted = lengths * _counts(recording, exclusion)
    means = _numbers(recording.column("response_mean_ms"))
    known = np.isfinite(means) & (counted > 0)
    total = float(lengths.sum())
    done = [note for note in recording.notes if note.kind == "done"]
    down = sum(note.downtime_seconds for note in recording.notes if note.kind in ("done", "rolled back"))
    return Summary(
        mean_ms=_average(means[known], counted[known]),
        p50_ms=_quantile(means[known], counted[known], 0.5),
        p95_ms=_quantile(means[known], counted[known], 0.95),
        violations=None
        if recording.objective_ms is None
        else _average((means[known] > recording.objective_ms).astype(float), counted[known]),
        replicas=_average(_numbers(recording.total_replicas()), counted) or 0.0,
        nodes=_average(_numbers(recording.column("nodes")), counted) or 0.0,
        downtime=down / total if total > 0 else 0.0,
        reconfigurations=len(done),
        cost=float(np.nansum(_numbers(recording.column("cost_per_hour")) * lengths) / 3600),
    )


def _counts(recording: Recording, exclusion: Exclusion) -> Values:
    """1 for the moments that count, 0 for the others."""
    moments = np.array(recording.seconds)
    kept = moments > exclusion.warm_up_seconds
    for note in recording.notes:
        if note.kind == "done":
            end = note.at_seconds + note.downtime_seconds + exclusion.settle_seconds
            kept &= ~((moments > note.at_seconds) & (moments <= end))
    return kept.astype(float)


def _numbers(series: Series) -> Values:
    return np.array([np.nan if value is None else value for value in series])


def _average(values: Values, weights: Values) -> float | None:
    whole = float(weights.sum())
    return float(values @ weights) / whole if whole > 0 else None


def _quantile(values: Values, weights: Values, level: float) -> float | None:
    """The smallest value that is reached for this share of the time."""
    if not len(values):
        return None
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    position = int(np.searchsorted(reached, level * reached[-1]))
    return float(values[order][min(position, len(values) - 1)])
