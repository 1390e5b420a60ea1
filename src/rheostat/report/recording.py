"""Recordings of runs: plain series and notes, written as JSON and drawn by the report.

Nothing here knows the simulation: a run on Spark can be recorded the same way, sample by sample.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, Self

SERIES = (
    "rate_tps",
    "response_mean_ms",
    "response_p50_ms",
    "response_p95_ms",
    "response_p99_ms",
    "backlog",
    "nodes",
    "cost_per_hour",
)
"""Series of every recording: rate of the sources, response times, backlog, nodes, and $ per hour."""

Series = tuple[float | None, ...]
"""A number for every moment; None where it was not known."""


@dataclass(frozen=True, slots=True)
class Note:
    """An event: a reconfiguration, or a node that came or went."""

    at_seconds: float
    kind: str
    """`done`, `rolled back`, `refused` for reconfigurations, `node` for nodes."""
    what: str
    why: str = ""
    """The reason that was given for it, if there was one."""
    downtime_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Recording:
    """A whole run."""

    title: str
    seconds: tuple[float, ...]
    """Moments at which everything was measured, each at the end of its interval."""
    series: Mapping[str, Series]
    """By the names in `SERIES`."""
    replicas: Mapping[str, Series]
    """Number of replicas of every operator."""
    notes: tuple[Note, ...] = ()
    objective_ms: float | None = None
    """R_max: what the response time should not exceed."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Facts for the reader: policy, workload, seed."""
    latencies_ms: Mapping[str, Series] = field(default_factory=dict)
    """Latency of every operator, if it was recorded."""

    def __post_init__(self) -> None:
        """Refuses series that do not fit together."""
        if missing := sorted(set(SERIES) - set(self.series)):
            raise ValueError(f"a recording needs the series {', '.join(missing)}")
        for name, values in (*self.series.items(), *self.replicas.items(), *self.latencies_ms.items()):
            if len(values) != len(self.seconds):
                raise ValueError(f"{name} has {len(values)} values for {len(self.seconds)} moments")
            if any(value is not None and not isfinite(value) for value in values):
                raise ValueError(f"{name} has values that are no numbers: leave out what was not measured")

    def column(self, name: str) -> Series:
        """One of the series."""
        return self.series[name]

    def total_replicas(self) -> Series:
        """Number of replicas of all operators together."""
        return tuple(sum(value or 0.0 for value in values) for values in zip(*self.replicas.values(), strict=True))

    def explained(self, reasons: Sequence[tuple[float, str]]) -> "Recording":
        """The recording with reasons: each for the first change that began at its moment and has none yet."""
        notes = list(self.notes)
        for moment, reason in reasons:
            for i, note in enumerate(notes):
                if not note.why and note.kind != "node" and abs(note.at_seconds - moment) < 1e-6:
                    notes[i] = replace(note, why=reason)
                    break
        return replace(self, notes=tuple(notes))

    def save(self, path: Path) -> None:
        """Writes the recording as JSON."""
        path.write_text(json.dumps(asdict(self), allow_nan=False, sort_keys=True) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Self:
        """The recording in a file."""
        return cls.from_plain(json.loads(path.read_text(encoding="utf-8")))

    @classmethod
    def from_plain(cls, whole: Mapping[str, Any]) -> Self:
        """The recording in parsed JSON."""
        return cls(
            title=whole["title"],
            seconds=tuple(whole["seconds"]),
            series={name: tuple(values) for name, values in whole["series"].items()},
            replicas={name: tuple(values) for name, values in whole["replicas"].items()},
            notes=tuple(Note(**note) for note in whole["notes"]),
            objective_ms=whole["objective_ms"],
            facts=dict(whole["facts"]),
            latencies_ms={name: tuple(values) for name, values in whole["latencies_ms"].items()},
        )


class Recorder:
    """Collector of a recording, moment by moment."""

    def __init__(self, operators: Sequence[str]) -> None:
        self._seconds: list[float] = []
        self._series: dict[str, list[float | None]] = {name: [] for name in SERIES}
        self._replicas: dict[str, list[float | None]] = {name: [] for name in operators}
        self._latencies: dict[str, list[float | None]] = {name: [] for name in operators}
        self._notes: list[Note] = []

    def add(
        self,
        at_seconds: float,
        figures: Mapping[str, float],
        replicas: Mapping[str, int],
        latencies_ms: Mapping[str, float] | None = None,
    ) -> None:
        """Everything of one moment; a figure that is not given was not known."""
        self._seconds.append(at_seconds)
        for name, values in self._series.items():
            values.append(figures.get(name))
        for name, counts in self._replicas.items():
            counts.append(float(replicas[name]) if name in replicas else None)
        for name, times in self._latencies.items():
            times.append((latencies_ms or {}).get(name))

    def note(self, note: Note) -> None:
        """Adds an event."""
        self._notes.append(note)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Events so far."""
        return tuple(self._notes)

    def recording(
        self, title: str, *, objective_ms: float | None = None, facts: Mapping[str, str] | None = None
    ) -> Recording:
        """The recording so far."""
        return Recording(
            title,
            tuple(self._seconds),
            {name: tuple(values) for name, values in self._series.items()},
            {name: tuple(values) for name, values in self._replicas.items()},
            tuple(self._notes),
            objective_ms,
            dict(facts or {}),
            {name: tuple(values) for name, values in self._latencies.items()},
        )
