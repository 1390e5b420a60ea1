"""The process of `rheostat run`: starts everything, supervises it in a loop, shows it, and stops it."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

from rich.live import Live

from rheostat.cli.inputs.control_inputs import Steered
from rheostat.cli.inputs.run_inputs import RunRequest
from rheostat.cli.output import answer_json, page, warn
from rheostat.cli.session.signals import signals
from rheostat.cli.views.run_view import (
    change_line,
    lost_line,
    lost_nodes,
    run_view,
    story_line,
    summary,
    symptom_line,
)
from rheostat.control.history.lessons import teach
from rheostat.control.knowledge.profile import Profile
from rheostat.control.loop.clocks import SystemClock
from rheostat.controller import Controller
from rheostat.controller.bring_up import Launch, opened, recorded_deployment, recorded_key_groups, start_application
from rheostat.controller.controller_api import serving
from rheostat.controller.recorder import RecordingFile
from rheostat.model.documents import write
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.membership import kinds_of
from rheostat.model.run_settings import NodeForm
from rheostat.runtime.metrics.collector import CollectorSettings
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.spark.spark_settings import SparkSettings

PERIOD_SECONDS = 1.0
LINE_SECONDS = 5.0
"""Without a terminal, so often a line is written even if nothing has happened."""

Show = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Order:
    """One call of `rheostat run`."""

    wanted: RunRequest
    at_first: Deployment
    directory: Path
    form: NodeForm
    spark: SparkSettings = field(default_factory=SparkSettings)
    trigger_ms: int = 200
    key_groups: int | None = None
    seconds: float | None = None
    until_drained: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)
    """The settings that were given, by key, for the JSON answer."""
    as_json: bool = False
    aside: bool = False
    """Whether stdout is for another answer; the run's lines then go to stderr."""
    steered: Steered | None = None
    profile: Profile | None = None
    """What is known from another run; else what was learned in this directory before."""

    def launch(self) -> Launch:
        """The launch for the runtime."""
        groups = self.key_groups or recorded_key_groups(self.directory) or RuntimeSettings().key_groups
        settings = RuntimeSettings(groups, self.trigger_ms)
        wanted = self.wanted
        launch = Launch(wanted.application, wanted.infrastructure, self.directory, settings, self.form, self.spark)
        if self.steered is None:
            return launch
        elastic = self.steered.settings.kind == "e2df"
        return replace(
            launch,
            monitor=CollectorSettings(self.steered.sample_seconds),
            kinds=kinds_of(self.wanted.infrastructure) if elastic else (),
            most_nodes=self.steered.settings.max_nodes or launch.most_nodes,
        )

    def facts(self) -> dict[str, str]:
        """The facts that the report names."""
        told = {"control": "none"} if self.steered is None else self.steered.facts()
        return {**told, "nodes": self.form.value}


def carry_out(order: Order) -> bool:
    """Runs until the stop; True if no operator had failed by then."""
    _announce(order)
    told: Mapping[str, Any] = {"failures": []}
    with signals() as heard:
        try:
            with opened(order.launch()) as found, heard.ending_behind():
                _write_documents(order)
                start_application(found, order.at_first)
                recording = RecordingFile(order.directory, order.wanted.application, order.facts())
                controller = Controller(found, recording, order.profile)
                _steer(controller, order)
                with serving(controller, order.directory), heard.stopping(controller.stop):
                    told = _tend(controller, order)
        except KeyboardInterrupt:
            warn("interrupted")
    if order.as_json:
        answer_json(ok=not told["failures"], settings=order.given, **told)
    else:
        warn(f"stopped; rheostat run with --directory {order.directory} takes it up again")
    return not told["failures"]


def _steer(controller: Controller, order: Order) -> None:
    """Starts the managers of the control that was given."""
    steered = order.steered
    if steered is not None:
        clock = SystemClock()
        teach(controller.runtime.journal, steered.learned, clock.now_seconds())
        controller.steer(steered.settings, clock, steered.planning)
        if controller.steering.is_paused:
            warn("note: control was paused and still is; rheostat resume-control lets the managers decide again")


def _announce(order: Order) -> None:
    before = recorded_deployment(order.directory)
    if before is None:
        warn(f"starting {order.wanted.application.name} in {order.directory}")
        return
    warn(f"taking {order.wanted.application.name} up again in {order.directory}")
    if order.wanted.deployment not in (None, before):
        warn("note: it goes on with the deployment it had; change it with rheostat deploy")


def _write_documents(order: Order) -> None:
    """Writes the documents of the run for the other commands and for later readers."""
    (order.directory / "application.yaml").write_text(write(order.wanted.application), encoding="utf-8")
    (order.directory / "infrastructure.yaml").write_text(write(order.wanted.infrastructure), encoding="utf-8")


def _tend(controller: Controller, order: Order) -> Mapping[str, Any]:
    """Supervises in a loop; returns the last status."""
    began = time.monotonic()
    with _shown(controller, order) as show:
        while True:
            controller.tend()
            status = controller.status()
            show(status)
            if controller.is_stopping:
                break
            late = order.seconds is not None and time.monotonic() - began >= order.seconds
            if late or (order.until_drained and controller.is_finished()):
                controller.stop()
            else:
                controller.wait(PERIOD_SECONDS)
        controller.finish()
        return controller.status()


@contextmanager
def _shown(controller: Controller, order: Order) -> Iterator[Show]:
    """A live view on a terminal, else lines; on stderr if stdout is for JSON."""
    if sys.stdout.isatty() and not (order.as_json or order.aside):
        with Live(console=page(), auto_refresh=False, transient=False) as live:
            yield lambda status: live.update(run_view(controller.application, status), refresh=True)
    else:
        yield Lines(sys.stderr if order.as_json or order.aside else sys.stdout).show


class Lines:
    """Prints what is new, line by line."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._last = -LINE_SECONDS
        self._state = ""
        self._known: set[str] = set()
        self._lost: set[str] = set()
        self._symptoms: dict[tuple[str, str], str] = {}

    def show(self, status: Mapping[str, Any]) -> None:
        """Prints changes and failures once, a summary every few seconds and at every change of state."""
        lost, there = set(lost_nodes(status)), {node["name"] for node in status["nodes"]}
        for name in sorted((lost ^ self._lost) & there):
            self._say(f"{time.strftime('%H:%M:%S')} {lost_line(name) if name in lost else f'node {name} is back'}")
        self._lost = lost
        self._say_symptoms(status)
        news = [change_line(change) for change in status["changes"]] + list(status["failures"])
        news += [story_line(story) for story in (status["control"] or {}).get("stories", [])]
        for line in news:
            if line not in self._known:
                self._known.add(line)
                self._say(line)
        if status["state"] != self._state or time.monotonic() - self._last >= LINE_SECONDS:
            self._last, self._state = time.monotonic(), status["state"]
            self._say(f"{time.strftime('%H:%M:%S')} {summary(status)}")

    def _say_symptoms(self, status: Mapping[str, Any]) -> None:
        """A symptom when it begins and when it is over; its figures change all the time."""
        found = {(one["subject"], one["kind"]): symptom_line(one) for one in status["symptoms"]}
        for key in sorted(found.keys() - self._symptoms.keys()):
            self._say(f"{time.strftime('%H:%M:%S')} {found[key]}")
        for subject, kind in sorted(self._symptoms.keys() - found.keys()):
            self._say(f"{time.strftime('%H:%M:%S')} {subject}: no longer {kind}")
        self._symptoms = found

    def _say(self, line: str) -> None:
        self._out.write(f"{line}\n")
        self._out.flush()
