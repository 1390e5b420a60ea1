"""One run of any application under any control system, from its first tuple to its last, and what came of it.

Nodes are embedded in this process and share a Spark session, or are processes of their own.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from experiments.planning.report import tell
from experiments.spark.outcome import Controlled
from rheostat.control.history.decision_story import stories
from rheostat.control.history.lessons import teach
from rheostat.control.loop.clocks import SystemClock
from rheostat.control.loop.ports import Entry
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import Planning
from rheostat.controller import Controller
from rheostat.controller.bring_up import Launch, NodeForm, Opened, give_up_killed, opened
from rheostat.controller.recorder import RecordingFile, read_recording, with_reasons
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.metrics.collector import CollectorSettings
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.reconfigure.embedded_nodes import embedded

KEY_GROUPS = 4
PATIENCE_SECONDS = 180.0
LINE_SECONDS = 5.0

Rows = Sequence[Mapping[str, Any]]
Opening = Callable[[CollectorSettings], AbstractContextManager[Opened]]
"""Brings the nodes up, measured as often as the settings say."""
Watch = Callable[[Controller, float], None]
"""Is called in every round with the seconds since the start: to kill a node, to change or to measure something."""


@dataclass(frozen=True)
class Stage:
    """What runs, on what, for how long something comes in, and how its output is judged."""

    application: Application
    infrastructure: Infrastructure
    at_first: Deployment
    seconds: float
    """How long its sources bring anything."""
    sink: str
    differences: Callable[[Rows], tuple[int, int]]
    """Rows of the sink that are missing, and that are too much, against an answer computed without Spark."""
    runtime: RuntimeSettings = field(default_factory=lambda: RuntimeSettings(key_groups=KEY_GROUPS))
    patience_seconds: float = PATIENCE_SECONDS
    """How long what has come in may take to come out."""


@dataclass(frozen=True)
class Piece:
    """Who steers a run."""

    name: str
    settings: ControlSettings
    planning: Planning | None = None
    learned: tuple[Entry, ...] = ()
    """What its managers begin with."""

    @property
    def sample_seconds(self) -> float:
        """Three times per period everything is measured."""
        return self.settings.manager_period() / 3


def on_embedded(stage: Stage, root: Path, spark: SparkSession) -> Opening:
    """All nodes in this process."""

    @contextmanager
    def opening(monitor: CollectorSettings) -> Iterator[Opened]:
        described = (stage.application, stage.infrastructure, root, spark, stage.runtime)
        with embedded(*described, monitor=monitor) as runtime:
            yield Opened(runtime, lambda: give_up_killed(runtime))

    return opening


def on_processes(stage: Stage, root: Path, kinds: tuple[Node, ...] = (), most_nodes: int = 16) -> Opening:
    """A process for every node; further ones of some kinds can be had while it runs."""
    launch = Launch(
        stage.application, stage.infrastructure, root, stage.runtime, NodeForm.PROCESS, most_nodes=most_nodes
    )
    return lambda monitor: opened(replace(launch, kinds=kinds, monitor=monitor))


def perform(stage: Stage, root: Path, opening: Opening, piece: Piece, watch: Watch = lambda *_: None) -> Controlled:
    """Runs until everything that came in has come out."""
    with opening(CollectorSettings(piece.sample_seconds)) as found:
        runtime = found.runtime
        runtime.launch(stage.at_first)
        controller = Controller(found, RecordingFile(root, stage.application, {"control": piece.name}))
        clock = SystemClock()
        teach(runtime.journal, piece.learned, clock.now_seconds())
        controller.steer(piece.settings, clock, piece.planning)
        try:
            _tend(controller, stage, lambda seconds: watch(controller, seconds))
            if failures := controller.status()["failures"]:
                # What such a run has measured is worth nothing.
                raise RuntimeError(f"{piece.name}: queries have failed for good: {failures}")
        finally:
            controller.stop()
            controller.finish()
        rows = runtime.results(stage.sink).to_pylist()
        told, entries = stories(runtime.journal), [entry for _, entry in runtime.journal.read()]
    lost, duplicated = stage.differences(rows)
    recording = read_recording(root, stage.application)
    if recording is None:
        raise RuntimeError("nothing was recorded")
    recording = with_reasons(recording, told)
    done = Controlled(piece.name, recording, told, lost, duplicated, entries, controller.profile)
    tell(f"{piece.name}: {len(done.moves)} changes, lost {lost}, duplicated {duplicated}")
    return done


def _tend(controller: Controller, stage: Stage, watch: Callable[[float], None]) -> None:
    began = time.monotonic()
    last = -LINE_SECONDS
    scaled = [operator.name for operator in stage.application.operators if operator.max_replicas > 1]
    while not controller.is_finished():
        controller.tend()
        seconds = time.monotonic() - began
        watch(seconds)
        if seconds > stage.seconds + stage.patience_seconds:
            late = f"not done {stage.patience_seconds:g} s after the end of the load"
            raise TimeoutError(f"{late}: {controller.status()}")
        if seconds - last > LINE_SECONDS:
            last = seconds
            status = controller.status()
            waiting = sum(stream["lag_rows"] or 0 for stream in status["streams"])
            places = ", ".join(f"{name} {status['deployment'][name]}" for name in scaled)
            tell(f"  {seconds:.0f} of {stage.seconds:.0f} s, {places}, {waiting} waiting")
        controller.wait(0.5)


def counted_differences(wanted: Mapping[Any, int], found: Mapping[Any, int]) -> tuple[int, int]:
    """What was counted too seldom and too often.

    >>> counted_differences({"a": 3, "b": 1}, {"a": 2, "c": 4})
    (2, 4)
    """
    off = [found.get(each, 0) - wanted.get(each, 0) for each in wanted.keys() | found.keys()]
    return -sum(min(0, one) for one in off), sum(max(0, one) for one in off)
