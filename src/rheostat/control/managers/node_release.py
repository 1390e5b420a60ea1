"""Release of nodes: requests to an application to leave nodes, and its answers [E2DF].

The infrastructure manager asks; the application manager may refuse. What it agrees to it asks for itself, as
migrations, like any other change: its global policy has the last word.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from rheostat.control.knowledge.deployment_snapshot import DeploymentSnapshot
from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.managers.operator_manager import Local
from rheostat.control.managers.replica_changes import grown
from rheostat.model.graph.reconfiguration import Change
from rheostat.policies.contract.policy import decision_random
from rheostat.policies.contract.policy_views import NodeView
from rheostat.policies.contract.requests import Request

BY, LOST = "infrastructure manager", "application manager"


@dataclass(slots=True)
class NodeRelease:
    """The nodes an application has agreed to leave."""

    nodes: set[str] = field(default_factory=set)

    def agree(self, node: str, state: ApplicationState) -> str:
        """Takes a node into the list, or says why not: "" is agreement."""
        snapshot = state.snapshot()
        needed = 0
        for operator, count in snapshot.hosted.get(node, {}).items():
            if state.application.by_name[operator].pin is not None:
                return f"operator {operator} is pinned to it"
            needed += count
            others = [view for view in state.node_views(operator) if view.name != node]
            if sum(view.room for view in others) < count:
                return f"there is no room elsewhere for the {count} replicas of {operator}"
        elsewhere = [name for name in snapshot.infrastructure.index if name != node and state.may_use(name)]
        room = sum(int(snapshot.capacities[name] - snapshot.used[name] + 1e-9) for name in elsewhere)
        if room < needed:
            return f"there is no room elsewhere for its {needed} replicas"
        self.nodes.add(node)
        return ""

    def forget(self, node: str) -> None:
        """Drops the request to leave a node."""
        self.nodes.discard(node)

    def requests(self, state: ApplicationState, local: Local) -> list[Request]:
        """One migration for every operator that has replicas on such nodes, or on some that are lost.

        They are placed one after the other, each in the room that those before it leave, so that all can be done at
        once: an application pauses once for a node that is gone, not once for every operator that was there.
        """
        snapshot, found = state.snapshot(), []
        lost = snapshot.hosted.keys() - snapshot.infrastructure.index.keys()
        taken: Counter[str] = Counter()
        for operator in sorted({name for node in self.nodes | lost for name in snapshot.hosted.get(node, ())}):
            takes = state.application.by_name[operator].resources
            current = after = snapshot.replicas[operator]
            left = []
            for node in sorted(self.nodes | lost):
                if not (count := snapshot.hosted.get(node, {}).get(operator, 0)):
                    continue
                elsewhere = _with_less_room(state.node_views(operator), self.nodes, snapshot, operator, taken)
                random = decision_random(local.seed, operator, node, repr(state.monitor.now_seconds))
                moved = grown(after, count, elsewhere, local.placement, random)
                if len(moved) == len(after) + count:
                    taken.update({name: takes * moved[name] - takes * after[name] for name, _ in moved.counts})
                    after = moved.plus(node, -count)
                    left.append(node)
            if left:
                found.append(_request(Change(operator, current, after), left, lost))
        return found


def _with_less_room(
    nodes: Sequence[NodeView],
    leaving: AbstractSet[str],
    snapshot: DeploymentSnapshot,
    operator: str,
    taken: Mapping[str, float],
) -> list[NodeView]:
    """The nodes that need not be left, as those find them who come after others that have taken so much."""
    return [
        replace(node, room=snapshot.room(node.name, operator, taken.get(node.name, 0.0)))
        for node in nodes
        if node.name not in leaving
    ]


def _request(change: Change, left: Sequence[str], lost: AbstractSet[str]) -> Request:
    gone = not lost.isdisjoint(left)
    reason = " and ".join(f"node {node} is {'lost' if node in lost else 'wanted back'}" for node in left)
    return Request(change, 1.0, LOST if gone else BY, reason, urgent=gone, placed_together=True)
