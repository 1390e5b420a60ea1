"""Replay of a whole run from its journal alone, up to the first decision that would be taken otherwise.

The journal holds the settings of each control that was put on the application. A controller that takes a run over
writes them again, and its managers begin with what was journaled of their memory. Managers on agents go on meanwhile:
what they have decided before the takeover, and what arrives only after it, is decided again with the settings before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rheostat.control.history.journal import MemoryJournal
from rheostat.control.history.lessons import remind
from rheostat.control.history.replay_decisions import DECISIONS, Replay, ReplayDifference
from rheostat.control.loop.clocks import VirtualClock
from rheostat.control.loop.ports import NODE_JOINED, Entry, JournalReader
from rheostat.control.managers.operator_manager import MEMORY
from rheostat.control.setup.control_record import CONTROL, ControlRecord
from rheostat.control.setup.dry_run import Untouched
from rheostat.control.setup.factory import Control, World, build
from rheostat.errors import ControlError
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.membership import kinds_of, with_node
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.model.observation import Sample


class NotReplayable(ControlError):
    """A journal holds decisions, but not the settings they were taken with."""

    def __str__(self) -> str:
        return (
            "the journal does not say with which settings it was decided: run it again with rheostat run --control, "
            "or write it with rheostat simulate --journal"
        )


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """Outcome of a replay."""

    decided: int
    """Decisions that were taken again, the one that differs included."""
    skipped: int
    """Decisions that could not be taken again."""
    difference: ReplayDifference | None = None
    """The first one."""


@dataclass(slots=True)
class ReplayNodes:
    """Probe and node provider of a replay: nodes as the journal tells them; nothing is measured and nothing started."""

    at: Infrastructure
    _nothing: Deployment = field(default_factory=lambda: Deployment(()))

    def samples(self) -> Sequence[Sample]:
        """Nothing."""
        return ()

    def deployment(self) -> Deployment:
        """Nothing runs; each decision holds the deployment it was based on."""
        return self._nothing

    def infrastructure(self) -> Infrastructure:
        """All nodes that have joined so far."""
        return self.at

    def kinds(self) -> Sequence[Node]:
        """Templates of further nodes."""
        return kinds_of(self.at)

    def start(self, kind: str, region: str) -> str:
        """Rejects: a replay starts nothing."""
        raise ValueError(f"a replay starts no node, asked for {kind} in {region}")

    def failure(self, node: str) -> str | None:  # noqa: ARG002 - the protocol
        """None: nothing was asked for."""
        return None

    def stop(self, node: str) -> None:
        """Rejects: a replay stops nothing."""
        raise ValueError(f"a replay stops no node, asked for {node}")


def replay_run(journal: JournalReader) -> ReplayResult:
    """Takes the decisions of a journal again until one differs."""
    replay: Replay | None = None
    nodes: ReplayNodes | None = None
    since_seconds = 0.0
    lessons: list[Entry] = []
    for number, entry in journal.read():
        if entry.kind == MEMORY:
            lessons.append(entry)
        if entry.kind == CONTROL:
            control, nodes = _control(entry, nodes)
            replay, since_seconds = _reminded(control, lessons, replay), entry.at_seconds
        elif entry.kind == NODE_JOINED and nodes is not None and entry.facts["name"] not in nodes.at.index:
            facts: Any = entry.facts
            nodes.at = with_node(nodes.at, Node(**facts))
        elif replay is None and entry.kind in DECISIONS:
            raise NotReplayable
        elif replay is not None:
            by = replay.before if replay.before is not None and entry.at_seconds < since_seconds else replay
            if (found := by.follow(number, entry)) is not None:
                return _result(replay, found)
    if replay is None:
        raise NotReplayable
    return _result(replay)


def _result(replay: Replay, found: ReplayDifference | None = None) -> ReplayResult:
    """Counts over the replays of all controllers."""
    decided, skipped, one = 0, 0, replay
    while True:
        decided, skipped = decided + one.decided, skipped + one.skipped
        if one.before is None:
            return ReplayResult(decided, skipped, found)
        one = one.before


def _control(entry: Entry, before: ReplayNodes | None) -> tuple[Control, ReplayNodes]:
    """The managers that an entry describes, on the nodes of the run."""
    record = ControlRecord.from_facts(entry.facts)
    nodes = ReplayNodes(record.infrastructure)
    if before is not None:
        for node in before.at.nodes:
            if node.name not in nodes.at.index:
                nodes.at = with_node(nodes.at, node)
    world = World(record.application, nodes, Untouched(), VirtualClock(), MemoryJournal(), nodes)
    return build(record.settings, world, record.planning), nodes


def _reminded(control: Control, lessons: Sequence[Entry], before: Replay | None) -> Replay:
    remind(control.operators, lessons)
    replay = Replay.of(control)
    replay.before = before
    for manager in control.operators:
        memory = replay.memory_of(manager.name)
        memory.restarts = manager.memory_every > 0
        memory.add(manager.memory)
        memory.journaled = manager.memory
        if before is not None and manager.name in before.operators:
            policy, _ = before.operators[manager.name]
            if policy == manager.policy:
                for kept in before.memory_of(manager.name).possible.values():
                    memory.add(kept)
    return replay
