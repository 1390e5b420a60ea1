"""Changing a deployment while data flows: the papers' pause-and-resume protocol as one table.

```
            BEGIN           HELD            SAVED           BUILT          STARTED        RESUMED
RUNNING ──────────▶ HOLDING ─────▶ SAVING ────────▶ MOVING ───────▶ STARTING ─────▶ RESUMING ─────▶ DONE
                       │  FAILED      │ FAILED         │ FAILED        │ FAILED         │ FAILED
                       ▼              ▼                ▼               ▼                ▼
                       └─────▶ ROLLING_BACK ◀──────────┘           RECOVERING ◀─────────┘
                                     │ RESTORED                        │ STARTED
                                     ▼                                 ▼
                                   UNDONE                           RESUMING
```

Two rules: every state and every step is here; this file does not know who obeys it.

First barrier: SAVED, all instances that change stand still with everything they planned committed, and have stopped.
The switch: BUILT, the new checkpoints are complete and the new plan is written. Before it a failure is undone, after
it the change is finished: the old instances are gone for good, the new ones can be started as often as it takes.
Second barrier: STARTED, all new instances are up, held. RESUMED lets them go.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rheostat.errors import IllegalStep


class State(StrEnum):
    """State of a migration."""

    RUNNING = "running"
    """The application runs as it was; nothing has begun."""
    HOLDING = "holding"
    """Instances that change are told to stand still; channels that a fused chain needs empty are drained."""
    SAVING = "saving"
    """Instances that change stand still and are being stopped at a committed batch."""
    MOVING = "moving"
    """State is being moved into new checkpoints."""
    STARTING = "starting"
    """The new plan holds; new instances are being started, held."""
    RESUMING = "resuming"
    """All new instances are up and are being let go."""
    DONE = "done"
    ROLLING_BACK = "rolling back"
    """The old instances are being started again."""
    UNDONE = "undone"
    RECOVERING = "recovering"
    """The new plan holds but not everything is up: it is tried until it is."""


class Event(StrEnum):
    """Event in a migration."""

    BEGIN = "begin"
    HELD = "held"
    SAVED = "saved"
    BUILT = "built"
    STARTED = "started"
    RESUMED = "resumed"
    RESTORED = "restored"
    FAILED = "failed"


STEPS: Mapping[State, Mapping[Event, State]] = {
    State.RUNNING: {Event.BEGIN: State.HOLDING},
    State.HOLDING: {
        Event.HELD: State.SAVING,
        Event.FAILED: State.ROLLING_BACK,
    },
    State.SAVING: {
        Event.SAVED: State.MOVING,
        Event.FAILED: State.ROLLING_BACK,
    },
    State.MOVING: {
        Event.BUILT: State.STARTING,
        Event.FAILED: State.ROLLING_BACK,
    },
    State.STARTING: {
        Event.STARTED: State.RESUMING,
        Event.FAILED: State.RECOVERING,
    },
    State.RESUMING: {
        Event.RESUMED: State.DONE,
        Event.FAILED: State.RECOVERING,
    },
    State.ROLLING_BACK: {
        Event.RESTORED: State.UNDONE,
        Event.FAILED: State.ROLLING_BACK,
    },
    State.RECOVERING: {
        Event.STARTED: State.RESUMING,
        Event.FAILED: State.RECOVERING,
    },
    State.DONE: {},
    State.UNDONE: {},
}

SWITCHED = frozenset({State.STARTING, State.RESUMING, State.RECOVERING, State.DONE})
"""The new plan holds: from here there is only forward."""

FINISHED = frozenset({State.DONE, State.UNDONE})


@dataclass(frozen=True, slots=True)
class Migration:
    """A migration on its way, with what has happened to it."""

    state: State = State.RUNNING
    history: tuple[Event, ...] = ()

    def after(self, event: Event) -> "Migration":
        """The migration after an event; one that is not expected raises and changes nothing."""
        following = STEPS[self.state].get(event)
        if following is None:
            raise IllegalStep(self.state, event, self.history)
        return Migration(following, (*self.history, event))

    @classmethod
    def replayed(cls, events: Sequence[Event]) -> "Migration":
        """The migration after these events."""
        migration = cls()
        for event in events:
            migration = migration.after(event)
        return migration

    @property
    def is_switched(self) -> bool:
        """Whether the new plan holds."""
        return self.state in SWITCHED

    @property
    def is_finished(self) -> bool:
        """Whether it is done or undone."""
        return self.state in FINISHED
