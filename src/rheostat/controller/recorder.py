"""Recording of a run on Spark for its report: one line of JSON for every moment and every change.

Appended, never rewritten: a run that is killed has its report up to then, and one that is taken up again goes on.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rheostat.control.history.decision_story import Story
from rheostat.control.loop.effects import effect_parts
from rheostat.control.loop.ports import Effect
from rheostat.model.graph.application import Application, Kind
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure
from rheostat.model.observation import Of, Sample, Subject
from rheostat.model.quality.placed import Placed
from rheostat.model.quality.qos import cost_per_hour
from rheostat.report.recording import SERIES, Note, Recorder, Recording

FILE = "recording.jsonl"


class RecordingFile:
    """Writes down a run as it goes."""

    def __init__(self, directory: Path, application: Application, facts: Mapping[str, str]) -> None:
        self._path, self._application = directory / FILE, application
        self._nodes: frozenset[str] | None = None
        self._write({"run": dict(facts), "at": time.time()})

    def add(self, samples: Sequence[Sample], deployment: Deployment, infrastructure: Infrastructure) -> None:
        """One moment; nodes that have come or gone since the last one are noted."""
        self._note_nodes(frozenset(infrastructure.index))
        known = {(sample.subject, name): value for sample in samples for name, value in sample.figures.items()}
        whole = Subject.application(self._application.name)
        figures = {name: known[whole, name] for name in SERIES if (whole, name) in known}
        sources = [o.name for o in self._application.operators if o.kind is Kind.SOURCE]
        rates = [known.get((Subject.operator(name), "output_rate")) for name in sources]
        if all(rate is not None for rate in rates):
            figures["rate_tps"] = sum(rate or 0.0 for rate in rates)
        figures["backlog"] = sum(
            value for (subject, name), value in known.items() if subject.of is Of.STREAM and name == "backlog"
        )
        figures["nodes"] = float(len(infrastructure.nodes))
        rent = sum(node.price_per_hour for node in infrastructure.nodes)
        if set(deployment.nodes()) <= set(infrastructure.index):
            figures["cost_per_hour"] = rent + cost_per_hour(Placed(self._application, infrastructure, deployment))
        latencies = {
            subject.names[0]: value
            for (subject, name), value in known.items()
            if subject.of is Of.OPERATOR and name == "latency_ms"
        }
        replicas = {name: len(each) for name, each in deployment.items()}
        moment = {"figures": figures, "replicas": replicas, "latencies": latencies}
        self._write({"moment": samples[0].at_seconds, **moment})

    def note(self, what: str, effect: Effect) -> None:
        """A change that was wanted, and what became of it."""
        parts = effect_parts(effect)
        told = f"{what} ({parts.reason})" if parts.reasons else what
        self._write({"note": asdict(Note(time.time(), parts.outcome, told, "", parts.downtime_seconds))})

    def _note_nodes(self, nodes: frozenset[str]) -> None:
        known, self._nodes = self._nodes, nodes
        if known is not None:
            told = [f"node {name} is up" for name in sorted(nodes - known)]
            told += [f"node {name} is gone" for name in sorted(known - nodes)]
            for what in told:
                self._write({"note": asdict(Note(time.time(), "node", what))})

    def _write(self, line: Mapping[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")


def read_recording(directory: Path, application: Application) -> Recording | None:
    """The whole run so far, its time counted from its start; None if nothing was recorded."""
    path = directory / FILE
    if not path.exists():
        return None
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    start = min((line["at"] for line in lines if "run" in line), default=0.0)
    recorder = Recorder([operator.name for operator in application.operators])
    facts: dict[str, str] = {}
    for line in lines:
        if "run" in line:
            facts = line["run"]
        elif "note" in line:
            note = line["note"]
            # Written when the change was over, told by when it began.
            began = note["at_seconds"] - start - note["downtime_seconds"]
            recorder.note(Note(**{**note, "at_seconds": max(0.0, began)}))
        else:
            recorder.add(line["moment"] - start, line["figures"], line["replicas"], line["latencies"])
    objective = facts.get("objective_ms")
    shown = {name: value for name, value in facts.items() if name != "objective_ms"}
    limit = None if not objective else float(objective)
    return recorder.recording(f"{application.name} on Spark", objective_ms=limit, facts=shown)


def with_reasons(recording: Recording, told: Sequence[Story]) -> Recording:
    """The recording with the reason of every change by managers; the journal has them in the same order."""
    waiting = [(str(story.effect.facts["change"]), story.reason) for story in told if story.effect is not None]
    notes = []
    for note in recording.notes:
        found = next((i for i, (what, _) in enumerate(waiting) if note.what.startswith(what)), None)
        if note.kind == "node" or found is None:
            notes.append(note)
            continue
        notes.append(replace(note, why=waiting[found][1]))
        del waiting[: found + 1]
    return replace(recording, notes=tuple(notes))
