"""Guard against scale-ins that would fuse operators into an overloaded query.

Neighbours with the same deployment are one query, in which they work one after the other (`model.fragments`). An
operator that was scaled out of a busy query is quiet by itself. If only that counted it would be scaled in, run in the
same busy query again, be scaled out of it, and so on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.fragments import Fragment, fragments
from rheostat.model.graph.reconfiguration import ChangeKind
from rheostat.policies.contract.requests import Refusal, Request

CROWDING = "crowding"


@dataclass(frozen=True, slots=True)
class FusionGuard:
    """Refuses what would put operators together that are too busy for one query."""

    application: Application
    busy: Callable[[str], float | None]
    """Number of replicas that an operator alone would keep fully busy; None if unknown."""
    most: float = 0.7
    """Limit of the utilization of a query."""

    def checked(
        self, requests: Sequence[Request], replicas: Mapping[str, Replicas]
    ) -> tuple[list[Request], list[Refusal]]:
        """Requests that can be granted, in their order, and refusals of the others; a scale-out is never refused."""
        placed = dict(replicas)
        placed |= {one.change.operator: one.change.after for one in requests if one.kind is not ChangeKind.SCALE_IN}
        kept, refused = [], []
        for request in requests:
            name = request.change.operator
            wanted = {**placed, name: request.change.after}
            reason = self._reason(name, placed, wanted) if request.kind is ChangeKind.SCALE_IN else ""
            if reason:
                refused.append(Refusal(request, CROWDING, reason))
            else:
                placed = wanted
                kept.append(request)
        return kept, refused

    def _reason(self, name: str, before: Mapping[str, Replicas], after: Mapping[str, Replicas]) -> str:
        """Reason of a refusal; empty if there is none."""
        together = self._query(name, after)
        company = [other for other in together.operators if other not in self._query(name, before).operators]
        busy = [known for other in together.operators if (known := self.busy(other)) is not None]
        would_be = sum(busy) / len(together.replicas)
        if not company or would_be <= self.most:
            return ""
        return f"in one query with {' and '.join(company)} it would be {would_be:.0%} busy, more than {self.most:.0%}"

    def _query(self, name: str, replicas: Mapping[str, Replicas]) -> Fragment:
        found = fragments(self.application, Deployment.of(replicas))
        return next(fragment for fragment in found if name in fragment.operators)
