"""Tree of all errors that rheostat raises.

```
RheostatError
├── InvalidModel            a description contradicts itself; lists every mistake
├── InvalidDocument         a file does not describe what it should; lists every mistake with its line
├── ControlError
│   ├── IllegalStep         a protocol received an event it does not expect
│   └── Conflict            two changes want the same operator
└── RuntimeFault            something outside failed: a node, a query, a file
    ├── Fenced              a producer of an old epoch tried to write
    ├── JournalFenced       an earlier owner of a run tried to append to its journal
    ├── JournalUnreadable   the journal does not say which plan holds
    ├── NodeUnreachable     an agent does not answer
    ├── SparkGone           the Spark that all nodes of a run share has died
    ├── OperatorFailed      the user's code raised
    └── CannotMove          a state cannot be moved the way that was asked
```

Wrong use of a function is a plain `ValueError` with the value in it. Expected non-success (infeasible, refused, out of
time) is a result, never an exception.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in a description: its place, what is wrong, and what to write instead."""

    where: tuple[str | int, ...]
    """Path inside the description, such as ("operators", 2, "key")."""
    what: str
    """The mistake, in words."""
    remedy: str = ""
    """Text to write instead."""

    def __str__(self) -> str:
        place = ".".join(str(part) for part in self.where) or "document"
        return f"{place}: {self.what}" + (f"; {self.remedy}" if self.remedy else "")


@dataclass(frozen=True, slots=True, order=True)
class Located:
    """A mistake in a file: its line, what is wrong, and what to write instead."""

    file: str
    """File in which the mistake has to be corrected, as the user named it."""
    line: int
    """Line number, counted from 1."""
    what: str
    """The mistake, in words."""
    remedy: str = ""
    """Text to write instead."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" + (f"; {self.remedy}" if self.remedy else "")


class RheostatError(Exception):
    """Root of all errors that Rheostat raises."""


class InvalidModel(RheostatError):
    """Contradictions in a description. Lists every mistake, not only the first."""

    def __init__(self, subject: str, mistakes: Sequence[Mistake]) -> None:
        super().__init__(subject, mistakes)
        self.subject, self.mistakes = subject, tuple(mistakes)

    def __str__(self) -> str:
        return f"{self.subject}: " + "; ".join(str(mistake) for mistake in self.mistakes)


class InvalidDocument(RheostatError):
    """Files that do not describe what they should. Lists every mistake by file and line, one per line of text."""

    def __init__(self, mistakes: Sequence[Located]) -> None:
        super().__init__(mistakes)
        self.mistakes = tuple(sorted(set(mistakes)))

    def __str__(self) -> str:
        return "\n".join(str(mistake) for mistake in self.mistakes)


class ControlError(RheostatError):
    """Failure of a decision or a protocol."""


class IllegalStep(ControlError):
    """Event that a protocol does not expect in its state."""

    def __init__(self, state: str, event: str, history: Sequence[str] = ()) -> None:
        super().__init__(state, event, history)
        self.state, self.event, self.history = state, event, tuple(history)

    def __str__(self) -> str:
        return f"{self.event} is not expected in {self.state} (after {', '.join(self.history) or 'nothing'})"


class Conflict(ControlError):
    """Two changes that want the same operator at once."""

    def __init__(self, operator: str, running: str) -> None:
        super().__init__(operator, running)
        self.operator, self.running = operator, running

    def __str__(self) -> str:
        return f"operator {self.operator} is being changed already ({self.running}); wait for it to finish"


class RuntimeFault(RheostatError):
    """Failure outside the program: a node, a query, a file."""


class Fenced(RuntimeFault):
    """Write by a producer of an old epoch, after a newer one has taken over."""

    def __init__(self, producer: str, epoch: int) -> None:
        super().__init__(producer, epoch)
        self.producer, self.epoch = producer, epoch

    def __str__(self) -> str:
        return f"producer {self.producer} of epoch {self.epoch} is fenced off: a newer instance has taken over"


class JournalFenced(RuntimeFault):
    """Append to the journal of a run by an earlier owner, after a later one has taken the run over."""

    def __init__(self, term: int, newest_term: int) -> None:
        super().__init__(term, newest_term)
        self.term, self.newest_term = term, newest_term

    def __str__(self) -> str:
        return (
            f"the run was taken over: term {self.newest_term} owns its journal, term {self.term} can no longer append; "
            "see rheostat status for the controller that runs it now"
        )


class JournalUnreadable(RuntimeFault):
    """Journal that does not say which plan holds after a change that has failed; nothing starts until it does."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"the journal of the run cannot be read: {self.reason}; nothing is started or changed until it can: "
            "see that its disk has room and answers"
        )


class NodeUnreachable(RuntimeFault):
    """Agent that does not answer."""

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(node, reason)
        self.node, self.reason = node, reason

    def __str__(self) -> str:
        return f"node {self.node} does not answer: {self.reason}"


class SparkGone(RuntimeFault):
    """Death of the Spark that all nodes of a run share, and of the run with it. Nothing is lost."""

    def __init__(self, log: str) -> None:
        super().__init__(log)
        self.log = log

    def __str__(self) -> str:
        return f"Spark has ended, see {self.log}; start rheostat run again to continue from the last committed batch"


class OperatorFailed(RuntimeFault):
    """Exception in the user's code, with operator, node and the user's line."""

    def __init__(self, operator: str, node: str, cause: str) -> None:
        super().__init__(operator, node, cause)
        self.operator, self.node, self.cause = operator, node, cause

    def __str__(self) -> str:
        return f"operator {self.operator} on node {self.node}: {self.cause}"


class CannotMove(RuntimeFault):
    """State that cannot be moved in the requested way."""

    def __init__(self, operator: str, reason: str) -> None:
        super().__init__(operator, reason)
        self.operator, self.reason = operator, reason

    def __str__(self) -> str:
        return f"the state of {self.operator} cannot be moved: {self.reason}"
