"""Taxi routes on three nodes, changed four times while trips arrive, and every ranking checked in the end.

`scripts/demo` runs it: `python -m examples.taxi_routes.demo`.
"""

import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from examples.taxi_routes.answer import Ranking, answer
from examples.taxi_routes.app import SPEED_UP, application
from examples.taxi_routes.definition import EVENT_TIME_STEP_MS
from rheostat.assembly import Controller
from rheostat.control.ports import Done
from rheostat.model.deployment import Deployment, Replicas
from rheostat.model.resources import Infrastructure, Node
from rheostat.runtime.launching import Launch, opened
from rheostat.runtime.positions import source_offsets
from rheostat.runtime.sources.generation import generation_of
from rheostat.runtime.specs import RuntimeSettings
from rheostat.runtime.world import Runtime

NODES = Infrastructure("three sites", tuple(Node(name, 8) for name in ("north", "centre", "south")))
CURVE = "ramp 20 50 for 60; ramp 50 20 for 60"
"""Trips per second: two minutes, which are two hours of event time."""
TRIPS = 4000
GROUPS = 4
BETWEEN_CHANGES_SECONDS = 5.0
PATIENCE_SECONDS = 300.0
MOST_TRIES = 3

AT_FIRST = {
    "dataSource": {"north": 1},
    "metronome": {"north": 1},
    "parser": {"north": 1},
    "filterByCoordinates": {"north": 1},
    "computeRouteID": {"north": 1},
    "countByWindow": {"centre": 1},
    "partialRank": {"centre": 1},
    "globalRank": {"centre": 1},
    "rankings": {"centre": 1},
}
CHANGES: tuple[tuple[str, dict[str, dict[str, int]]], ...] = (
    (
        "rush hour: countByWindow spreads over two sites, its state is split",
        {"countByWindow": {"centre": 1, "south": 1}},
    ),
    (
        "more rush: two replicas of parser and its successors",
        {name: {"north": 2} for name in ("parser", "filterByCoordinates", "computeRouteID")},
    ),
    ("partialRank moves to the south with its state", {"partialRank": {"south": 1}}),
    (
        "calm again: one replica of everything, countByWindow is merged and moves to the south",
        {
            "countByWindow": {"south": 1},
            **{name: {"north": 1} for name in ("parser", "filterByCoordinates", "computeRouteID")},
        },
    ),
)


def main() -> int:
    """Runs, changes, compares; 0 if everything is right."""
    directory = Path(tempfile.mkdtemp(prefix="rheostat-demo-"))
    try:
        return _run(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _run(directory: Path) -> int:
    app = application(CURVE, groups=GROUPS, total=TRIPS, seed=7)
    launch = Launch(
        app, NODES, directory, RuntimeSettings(key_groups=GROUPS, trigger_ms=500, patience_seconds=PATIENCE_SECONDS)
    )
    _say(f"starting Spark and three nodes: {', '.join(node.name for node in NODES.nodes)}")
    with opened(launch) as found:
        runtime, controller = found.runtime, Controller(found)
        began = time.monotonic()
        runtime.launch(Deployment.of(AT_FIRST))
        _say(f"{len(app.operators)} operators run as {len(runtime.plan.instances)} queries; {TRIPS:,} trips arrive")
        _until(controller, lambda: bool(runtime.results("rankings").num_rows), "no minute is ranked")
        _say("the first minutes are ranked")
        pauses = [_changed(runtime, controller, *change) for change in CHANGES]
        left = TRIPS - _arrived(runtime)
        _say(f"{left:,} trips are still to come; waiting for them")
        _until(controller, controller.is_finished, "it does not finish")
        seconds = time.monotonic() - began
        rows = runtime.results("rankings").to_pylist()
    got = Counter((int(row["minute"].timestamp()) // 60, _ranking(row["ranking"])) for row in rows)
    wanted = Counter(answer(_reports()).items())
    lost, duplicated = (wanted - got).total(), (got - wanted).total()
    is_right = not lost and not duplicated and None not in pauses
    shown = ", ".join("not done" if pause is None else f"{pause:.1f} s" for pause in pauses)
    _say(f"every ranking was computed again without Spark: {'they are equal' if is_right else 'they DIFFER'}")
    sys.stdout.write(
        f"RESULT: {TRIPS:,} trips in {seconds:.0f} s, {len(wanted)} minutes ranked, {len(pauses)} changes "
        f"(pauses {shown}; {left:,} trips came after the last), lost {lost}, duplicated {duplicated}\n"
    )
    return 0 if is_right else 1


def _changed(runtime: Runtime, controller: Controller, what: str, placed: dict[str, dict[str, int]]) -> float | None:
    """The pause of a change, after some seconds of calm; None if it did not take place."""
    until = time.monotonic() + BETWEEN_CHANGES_SECONDS
    while time.monotonic() < until:
        controller.tend()
        time.sleep(0.5)
    wanted = runtime.deployment()
    for operator, nodes in placed.items():
        wanted = wanted.having(operator, Replicas.of(nodes))
    _say(what)
    for _ in range(MOST_TRIES):
        effect = controller.change(wanted)
        if isinstance(effect, Done):
            _say(f"  done, paused for {effect.downtime_seconds:.1f} s")
            return effect.downtime_seconds
        # Nothing is lost by that: what ran before runs again. A busy machine may not start a worker in time.
        _say(f"  {effect}")
        controller.tend()
    return None


def _arrived(runtime: Runtime) -> int:
    """Trips that the source has brought so far."""
    (source,) = runtime.plan.with_head("dataSource")
    offsets = source_offsets(runtime.blueprint, source)
    return int(json.loads(offsets[0])["rows"]) if offsets else 0


def _until(controller: Controller, reached: Callable[[], bool], otherwise: str) -> None:
    """Watches over the application until something has come about."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        controller.tend()
        failures = controller.status()["failures"]
        if failures or time.monotonic() > deadline:
            raise SystemExit(f"{otherwise}: " + ("; ".join(failures) or "out of patience"))
        time.sleep(0.5)


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
