"""Which nodes does an application have to leave, and does it agree? The talk between the two control systems of E2DF.

The infrastructure manager asks; the application manager may refuse. What it agrees to it asks for itself, as
migrations, like any other change: its global policy has the last word.
"""

from dataclasses import dataclass, field

from rheostat.control.operator_manager import Local
from rheostat.control.outlook import Outlook
from rheostat.control.placing import grown
from rheostat.model.reconfiguration import Change
from rheostat.policies.policy import chance
from rheostat.policies.requests import Request

BY, LOST = "infrastructure manager", "application manager"


@dataclass(slots=True)
class Leaving:
    """The nodes an application has agreed to leave."""

    nodes: set[str] = field(default_factory=set)

    def agree(self, node: str, outlook: Outlook) -> str:
        """Takes a node into the list, or says why not: "" is agreement."""
        picture = outlook.picture()
        needed = 0
        for operator, count in picture.hosted.get(node, {}).items():
            if outlook.application.by_name[operator].pin is not None:
                return f"operator {operator} is pinned to it"
            needed += count
            others = [view for view in outlook.node_views(operator) if view.name != node]
            if sum(view.room for view in others) < count:
                return f"there is no room elsewhere for the {count} replicas of {operator}"
        elsewhere = [name for name in picture.infrastructure.index if name != node and outlook.may_use(name)]
        room = sum(int(picture.capacities[name] - picture.used[name] + 1e-9) for name in elsewhere)
        if room < needed:
            return f"there is no room elsewhere for its {needed} replicas"
        self.nodes.add(node)
        return ""

    def forget(self, node: str) -> None:
        """It need not be left any more."""
        self.nodes.discard(node)

    def requests(self, outlook: Outlook, local: Local) -> list[Request]:
        """One migration for every operator that has replicas on such a node, or on one that is lost."""
        picture, found = outlook.picture(), []
        lost = picture.hosted.keys() - picture.infrastructure.index.keys()
        for node in sorted(self.nodes | lost):
            for operator, count in sorted(picture.hosted.get(node, {}).items()):
                current = picture.replicas[operator]
                elsewhere = [view for view in outlook.node_views(operator) if view.name not in self.nodes]
                random = chance(local.seed, operator, node, repr(outlook.monitor.now_seconds))
                moved = grown(current, count, elsewhere, local.placement, random)
                if len(moved) == len(current) + count:
                    change = Change(operator, current, moved.plus(node, -count))
                    gone = node in lost
                    reason = f"node {node} is {'lost' if gone else 'wanted back'}"
                    found.append(Request(change, 1.0, LOST if gone else BY, reason, urgent=gone))
        return found
