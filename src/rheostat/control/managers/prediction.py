"""Predictions of changes, journaled when a change is decided, and compared with measurements when it has settled."""

from dataclasses import dataclass

from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.loop.ports import Entry, EntryLog, Json
from rheostat.control.managers.decisions import MEASURED, Expectation, expected_utilization
from rheostat.model.graph.reconfiguration import Reconfiguration


@dataclass(slots=True)
class Prediction:
    """Expectation of a manager's last change, until it is compared with measurements."""

    state: ApplicationState
    journal: EntryLog
    by: str
    patience_seconds: float = 30.0
    """So long the figures of operators are waited for once all else is known: one that has become part of a larger
    query may not have any again."""
    _expected: Expectation | None = None
    _waiting_since: float | None = None

    def expectation(self, change: Reconfiguration, response_ms: float | None = None) -> Expectation:
        """Expected outcome of a change: the same work spread over its replicas, and a predicted response time."""
        busy = []
        for each in change.changes:
            utilizations = self.state.operator_view(each.operator).utilizations
            if utilizations:
                busy.append((each.operator, expected_utilization(utilizations, len(each.after))))
        return Expectation(str(change), tuple(busy), self.state.response_ms(), response_ms)

    def begin(self, expected: Expectation) -> None:
        """The change was done; what was not yet measured of the one before will not be."""
        self._expected, self._waiting_since = expected, None

    def compare(self, now_seconds: float) -> None:
        """Tells what the last change has brought, as soon as that is known."""
        expected, response = self._expected, self.state.response_ms()
        if expected is None or response is None or self.state.settled_at_seconds > now_seconds:
            return
        views = [self.state.operator_view(operator) for operator, _ in expected.utilizations]
        known = [view for view in views if view.utilizations]
        if self._waiting_since is None:
            self._waiting_since = now_seconds
        if len(known) < len(views) and now_seconds < self._waiting_since + self.patience_seconds:
            return
        measured = {view.operator: expected_utilization(view.utilizations, view.replicas) for view in known}
        facts: dict[str, Json] = {
            "by": self.by,
            "change": expected.change,
            "predicted": expected.to_plain(),
            "measured": {"utilization": measured, "response_ms": response},
        }
        self.journal.append(Entry(MEASURED, now_seconds, facts))
        self._expected = None
