"""Taxi routes on three nodes under control: the rate rises and falls, a node is killed, and every ranking is checked.

`scripts/demo` runs it: `python -m examples.taxi_routes.demo`.
"""

import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from examples.taxi_routes.answer import Ranking, answer
from examples.taxi_routes.app import SPEED_UP, application
from examples.taxi_routes.definition import EVENT_TIME_STEP_MS
from rheostat.control.history.decision_story import Story, stories
from rheostat.control.loop.clocks import SystemClock
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.controller import Controller
from rheostat.controller.bring_up import Launch, Opened, opened
from rheostat.controller.recorder import RecordingFile, read_recording, with_reasons
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.report.html_report import write_report
from rheostat.runtime.ends.generation import generation_of
from rheostat.runtime.metrics.collector import CollectorSettings
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.reconfigure.runtime import Runtime

NODES = Infrastructure("three sites", tuple(Node(name, 8) for name in ("north", "centre", "south")))
CURVE = "ramp 20 60 for 50; ramp 60 15 for 40; 15 for 25"
"""Trips per second: two minutes, which are two hours of event time."""
TRIPS = 3700
GROUPS = 4
BUSY, SERVICE_MS = "parser", 18.0
"""An operator that takes its time: one replica of it can do 55 trips per second, fewer than come."""
CONTROL = ControlSettings(
    "edf", "threshold", period_seconds=5.0, settle_seconds=6.0, averaging_seconds=5.0, warm_up_seconds=10.0
)
KILLED, KILLED_AFTER_SECONDS, AT_THE_LATEST_SECONDS = "centre", 60.0, 80.0
"""Where routes are counted: their state moves with them. Not before something was scaled out, if that comes late: a
change to a node that is killed meanwhile is undone, and the rush hour would be over."""
PATIENCE_SECONDS = 300.0
LINES_TOLD = 5
REPORT = Path(tempfile.gettempdir()) / "rheostat-demo-report.html"

AT_FIRST = Deployment.of(
    {
        **{name: {"north": 1} for name in ("dataSource", "metronome")},
        **{name: {"south": 1} for name in (BUSY, "filterByCoordinates", "computeRouteID")},
        "countByWindow": {"centre": 1},
        **{name: {"south": 1} for name in ("partialRank", "globalRank", "rankings")},
    }
)


def main() -> int:
    """Runs, is changed by its managers, compares; 0 if everything is right."""
    directory = Path(tempfile.mkdtemp(prefix="rheostat-demo-"))
    try:
        return _run(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def taxi_under_load() -> Application:
    """The application with one operator that takes its time, the only one that may be scaled."""
    whole = application(CURVE, groups=GROUPS, total=TRIPS, seed=7)
    operators = []
    for operator in whole.operators:
        if operator.name == BUSY:
            operators.append(replace(operator, parameters=(*operator.parameters, ("service_ms", SERVICE_MS))))
        else:
            operators.append(replace(operator, max_replicas=1))
    return replace(whole, operators=tuple(operators))


def _run(directory: Path) -> int:
    app = taxi_under_load()
    settings = RuntimeSettings(key_groups=GROUPS, trigger_ms=500, patience_seconds=PATIENCE_SECONDS)
    monitor = CollectorSettings(CONTROL.manager_period() / 3)
    _say(f"starting Spark and three nodes: {', '.join(node.name for node in NODES.nodes)}")
    with opened(Launch(app, NODES, directory, settings, monitor=monitor)) as found:
        runtime = found.runtime
        runtime.launch(AT_FIRST)
        began = time.monotonic()
        _say(f"{len(app.operators)} operators run as {len(runtime.plan.instances)} queries; {TRIPS:,} trips arrive")
        controller = Controller(found, RecordingFile(directory, app, {"control": "edf, threshold"}))
        controller.steer(CONTROL, SystemClock())
        try:
            known: set[int] = set()
            _watch(controller, lambda: _is_time_to_kill(runtime, time.monotonic() - began), known)
            _kill(found)
            _watch(controller, controller.is_finished, known)
        finally:
            controller.stop()
            controller.finish()
        seconds = time.monotonic() - began
        rows = runtime.results("rankings").to_pylist()
        told = [story for story in stories(runtime.journal) if story.effect is not None]
    got = Counter((int(row["minute"].timestamp()) // 60, _ranking(row["ranking"])) for row in rows)
    wanted = Counter(answer(_reports()).items())
    lost, duplicated = (wanted - got).total(), (got - wanted).total()
    _say(f"every ranking was computed again without Spark: {'they DIFFER' if lost or duplicated else 'they are equal'}")
    recording = read_recording(directory, app)
    if recording is not None:
        write_report(with_reasons(recording, told), REPORT)
    _tell(told, began=time.time() - (time.monotonic() - began))
    adapted = {"scale-out", "migration", "scale-in"} - {kind for story in told for kind in _kinds(story)}
    if adapted:
        _say(f"but there was no {', no '.join(sorted(adapted))}")
    sys.stdout.write(
        f"RESULT: {TRIPS:,} trips in {seconds:.0f} s, {len(wanted)} minutes ranked, {len(told)} changes, "
        f"node {KILLED} killed, lost {lost}, duplicated {duplicated}; report: {REPORT}\n"
    )
    return int(bool(lost or duplicated or adapted))


def _watch(controller: Controller, reached: Callable[[], bool], known: set[int]) -> None:
    """Tends the application and tells what its managers do, once, until something has come about."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        controller.tend()
        for story in controller.steering.stories():
            if story["number"] not in known:
                known.add(story["number"])
                _say(f"  {story['told']}")
        if time.monotonic() > deadline:
            raise SystemExit(f"out of patience: {controller.status()['failures']}")
        controller.wait(0.5)


def _is_time_to_kill(runtime: Runtime, seconds: float) -> bool:
    if seconds <= KILLED_AFTER_SECONDS:
        return False
    return seconds > AT_THE_LATEST_SECONDS or any("scale-out" in _kinds(story) for story in stories(runtime.journal))


def _kill(found: Opened) -> None:
    _say(f"node {KILLED} is killed, with everything that runs there")
    next(node for node in found.runtime.nodes_up() if node.name == KILLED).kill()


def _tell(told: list[Story], began: float) -> None:
    """What happened and why, in a few lines."""
    _say("what happened, and why:")
    for story in told[:LINES_TOLD]:
        facts = story.effect.facts if story.effect is not None else {}
        at = story.decision.at_seconds - began
        _say(f"  {at:4.0f} s  {facts['change']}, as {story.reason} ({facts['outcome']})")
    if len(told) > LINES_TOLD:
        _say(f"  and {len(told) - LINES_TOLD} more, see the report")


def _kinds(story: Story) -> list[str]:
    """What kinds of change were done."""
    if story.effect is None or story.effect.facts["outcome"] != "done":
        return []
    return [part.split(" ")[0] for part in str(story.effect.facts["change"]).split("; ")]


def _reports() -> list[tuple[int, str]]:
    """The same trips, made again."""
    described = {"rows": "examples.taxi_routes.trips:trip", "curve": CURVE, "event_time": "ts", "seed": "7"}
    limits = {"speed_up": str(SPEED_UP), "step_ms": str(EVENT_TIME_STEP_MS), "total": str(TRIPS)}
    return [(at or 0, values[0]) for at, values in generation_of({**described, **limits}).rows(0, TRIPS)]


def _ranking(value: list[dict[str, object]]) -> Ranking:
    return tuple((str(entry["route"]), int(str(entry["trips"]))) for entry in value)


def _say(line: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
