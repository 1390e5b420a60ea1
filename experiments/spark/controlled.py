"""One run of an application under control, on embedded nodes: from its first tuple to its last, and what came of it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyspark.sql import SparkSession

from experiments.spark.workload import AT_FIRST, THREE_NODES, Load
from rheostat.assembly import Controller
from rheostat.assembly.recording_file import RecordingFile, read_recording, with_reasons
from rheostat.control.building import Planning
from rheostat.control.clocks import SystemClock
from rheostat.control.settings import ControlSettings
from rheostat.control.story import Story, stories
from rheostat.model.objective import Bounds, EdrpObjective
from rheostat.planning.exact import Exact
from rheostat.planning.problem import Limits
from rheostat.runtime.embedded import embedded
from rheostat.runtime.launching import Opened
from rheostat.runtime.monitor import MonitorSettings
from rheostat.runtime.specs import RuntimeSettings
from rheostat.simulation.recording import Recording

PERIOD_SECONDS, SETTLE_SECONDS = 4.0, 5.0
KEY_GROUPS = 4
PATIENCE_SECONDS = 180.0
RESPONSE_BOUND_MS = 150.0
"""R_max of the planner's model, which is that of declared queues: they know no micro-batches."""

CONTROLS: Mapping[str, ControlSettings] = {
    "edf, threshold": ControlSettings("edf", "threshold"),
    "edf, model-based": ControlSettings(
        "edf",
        "model-based",
        {"rate_quantum_tps": 10.0, "rate_levels": 10, "learning_rate": 0.5, "sweeps": 50, "latency_bound_ms": 3000.0},
    ),
    "elastic-storm": ControlSettings("elastic-storm", options={"cooldown_invocations": 1, "scale_in": 0.3}),
    "s-edrp": ControlSettings("s-edrp"),
    "none": ControlSettings("none"),
}
"""What is compared. Periods are those of a small machine and a short run; the policies have the papers' defaults.

But the learner has minutes instead of hours: finer rates, faster learning, and a table that is backed up until it has
settled.
"""


@dataclass(frozen=True, slots=True)
class Move:
    """A change that was done: when, of which operator, and in which direction."""

    at_seconds: float
    operator: str
    by: int
    """Replicas more, or fewer; 0 for a migration."""


@dataclass(frozen=True)
class Controlled:
    """What came of a run."""

    name: str
    recording: Recording
    told: list[Story] = field(default_factory=list)
    lost: int = 0
    duplicated: int = 0

    @property
    def moves(self) -> list[Move]:
        """Everything that was changed, counted from the start of the recording."""
        found = []
        for note in self.recording.notes:
            if note.kind == "done":
                found += [Move(note.at_seconds, *part) for part in _directions(note.what)]
        return found

    def flaps(self, within_seconds: float) -> int:
        """How often an operator changed its direction twice within a time."""
        count = 0
        for operator in {move.operator for move in self.moves}:
            scaled = [move for move in self.moves if move.operator == operator and move.by]
            for first, second, third in zip(scaled, scaled[1:], scaled[2:], strict=False):
                turned = first.by * second.by < 0 and second.by * third.by < 0
                count += turned and third.at_seconds - first.at_seconds < within_seconds
        return count

    def replicas(self, operator: str, from_seconds: float, to_seconds: float) -> list[float]:
        """How many there were at every moment of a time."""
        moments = zip(self.recording.seconds, self.recording.replicas[operator], strict=True)
        return [count or 0.0 for at, count in moments if from_seconds <= at < to_seconds]

    def back_under_ms(self, objective_ms: float, from_seconds: float, to_seconds: float) -> float | None:
        """Seconds until the response time is under the objective for the rest of a time; None if it never is."""
        column = self.recording.column("response_mean_ms")
        inside = [
            (at, ms) for at, ms in zip(self.recording.seconds, column, strict=True) if from_seconds <= at < to_seconds
        ]
        late = [at for at, ms in inside if ms is not None and ms > objective_ms]
        if not late:
            return 0.0
        after = [at for at, _ in inside if at > late[-1]]
        return after[0] - from_seconds if after else None


def run_controlled(
    name: str,
    spark: SparkSession,
    root: Path,
    load: Load | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Controlled:
    """Runs the load under a control system until everything that came in has come out."""
    load = load or Load()
    application = load.application()
    settings = _timed(CONTROLS[name])
    monitor = MonitorSettings(PERIOD_SECONDS / 3)
    runtime_settings = RuntimeSettings(key_groups=KEY_GROUPS)
    with embedded(application, THREE_NODES, root, spark, runtime_settings, monitor=monitor) as runtime:
        runtime.launch(AT_FIRST)
        controller = Controller(Opened(runtime), RecordingFile(root, application, {"control": name}))
        controller.steer(settings, SystemClock(), _planning(settings))
        try:
            _tend(controller, load, tell)
        finally:
            controller.stop()
            controller.settle()
        rows = runtime.results("consumer").to_pylist()
        told = stories(runtime.journal)
    counts = {row["word"]: row["count"] for row in rows}
    lost, duplicated = _differences(load.counts(), counts)
    recording = read_recording(root, application)
    if recording is None:
        raise RuntimeError("nothing was recorded")
    return Controlled(name, with_reasons(recording, told), told, lost, duplicated)


def _timed(settings: ControlSettings) -> ControlSettings:
    return replace(
        settings,
        period_seconds=PERIOD_SECONDS,
        settle_seconds=SETTLE_SECONDS,
        averaging_seconds=PERIOD_SECONDS,
        warm_up_seconds=2 * PERIOD_SECONDS,
    )


def _planning(settings: ControlSettings) -> Planning | None:
    if settings.kind != "s-edrp":
        return None
    bounds = Bounds(response_time_ms=RESPONSE_BOUND_MS, cost_per_hour=12.0, downtime_seconds=60.0)
    return Planning(Exact(), EdrpObjective(0.4, 0.4, 0.2, bounds), limits=Limits(PERIOD_SECONDS / 2))


def _tend(controller: Controller, load: Load, tell: Callable[[str], None]) -> None:
    deadline = time.monotonic() + load.seconds + PATIENCE_SECONDS
    last = 0.0
    while not controller.is_finished():
        controller.tend()
        if time.monotonic() > deadline:
            raise TimeoutError(f"the load was not done {PATIENCE_SECONDS:g} s after its end: {controller.status()}")
        if time.monotonic() - last > 5:
            last = time.monotonic()
            status = controller.status()
            waiting = sum(stream["lag_rows"] for stream in status["streams"])
            tell(f"{status['seconds']:.0f} s, {status['deployment']['split']}, {waiting} waiting")
        controller.wait(0.5)


def _directions(what: str) -> list[tuple[str, int]]:
    """From the words of a change: `scale-out split: {n2:1} -> {n2:2}; ...`."""
    found = []
    for part in what.split("; "):
        kind, _, rest = part.partition(" ")
        sign = {"scale-out": 1, "scale-in": -1}.get(kind, 0)
        found.append((rest.partition(":")[0], sign))
    return found


def _differences(wanted: Mapping[str, int], found: Mapping[str, int]) -> tuple[int, int]:
    """Words that were counted too seldom and too often."""
    words = wanted.keys() | found.keys()
    off = [found.get(word, 0) - wanted.get(word, 0) for word in words]
    return -sum(min(0, one) for one in off), sum(max(0, one) for one in off)
