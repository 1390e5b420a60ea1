"""Stories of decisions about nodes: a region's request, the answer, and the nodes that came and went.

What is decided: to start or stop nodes, to have one left, or that a region does not get what it asks for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rheostat.control.history.decision_story import STAYS, Result
from rheostat.control.history.explanation import explanation, is_holding
from rheostat.control.loop.ports import NODE_JOINED, Entry, JournalReader
from rheostat.control.managers.infrastructure_manager import INFRASTRUCTURE
from rheostat.control.managers.region_manager import NODES, REGION_PROPOSAL
from rheostat.policies.nodes.region_size import RegionView, RentedNode, free_capacity

UNDER_WAY = "under way"
MOST_NAMED = 6
"""Limit of nodes whose utilization is told one by one; of more nodes only the number is told."""


@dataclass(slots=True)
class NodeStory:
    """One decision about nodes, from what led to it to what came of it."""

    number: int
    """Number of the decision in the journal."""
    decision: Entry
    proposal: Entry | None = None
    """Request of the region."""
    came: dict[str, float] = field(default_factory=dict)
    """Nodes that were started, and how many seconds later they were up."""
    ending: Entry | None = None
    """A node that was to be left was stopped, or may be used again; or one did not come."""
    after: Entry | None = None
    """The first look at the region when everything had come or gone."""

    @property
    def started(self) -> Sequence[str]:
        """Nodes that were asked for."""
        return list(self._facts.get("started", ()))

    @property
    def stopped(self) -> Sequence[str]:
        """Nodes that were let go."""
        return list(self._facts.get("stopped", ()))

    @property
    def leaves(self) -> str | None:
        """The node that all applications were asked to leave."""
        return self._facts.get("vacate")

    @property
    def is_holding(self) -> bool:
        """False: a change was wanted."""
        return False

    @property
    def is_over(self) -> bool:
        """Whether everything has come or gone that should."""
        if self.leaves is not None or self.ending is not None:
            return self.ending is not None
        return all(node in self.came for node in self.started)

    def result(self) -> Result | None:
        """Result of the decision; None if nothing was to be changed."""
        if "refused" in self._facts:
            return None
        ending: Mapping[str, Any] = {} if self.ending is None else self.ending.facts
        if "cancelled" in ending:
            return Result(self._change, "cancelled", reasons=(ending["reason"],))
        if "given_up" in ending:
            return Result(self._change, "given up", reasons=(ending["reason"],))
        return Result(self._change, "done" if self.is_over else UNDER_WAY)

    def chapters(self) -> list[tuple[str, str]]:
        """Heading and text, in the order in which it happened."""
        found = []
        if self.proposal is not None:
            found.append(("seen", region_seen(_view(self.proposal))))
            found.append(("proposed", explanation(self.proposal)))
        if "refused" in self._facts:
            return [*found, ("refused", explanation(self.decision)), ("chosen", STAYS)]
        found.append(("chosen", f"{self._change}, since {self._facts['reason']}"))
        if (room := self._room_expected()) is not None:
            found.append(("expected", f"room for {room} replicas in the region"))
        found.append(self._outcome())
        if self.after is not None:
            found.append(("measured", f"room for {free_capacity(_view(self.after).nodes)} replicas in the region"))
        return found

    @property
    def _facts(self) -> Mapping[str, Any]:
        return self.decision.facts

    @property
    def _change(self) -> str:
        if self.leaves is not None:
            return f"have {self.leaves} left"
        named = [
            f"{what} {', '.join(each)}" for what, each in (("start", self.started), ("stop", self.stopped)) if each
        ]
        return " and ".join(named)

    def _outcome(self) -> tuple[str, str]:
        if self.ending is not None:
            since = self.ending.at_seconds - self.decision.at_seconds
            heading = "done" if "stopped" in self.ending.facts else "undone"
            return heading, f"{since:.0f} s later: {explanation(self.ending)}"
        if self.leaves is not None:
            return UNDER_WAY, f"{self.leaves} is not yet empty"
        told = [f"{node} was up after {seconds:.0f} s" for node, seconds in self.came.items()]
        told += [f"{node} is not yet up" for node in self.started if node not in self.came]
        told += [f"{node} was empty and is gone" for node in self.stopped]
        return ("done" if self.is_over else UNDER_WAY), "; ".join(told)

    def _room_expected(self) -> int | None:
        """Places for replicas when everything has come or gone."""
        if self.proposal is None:
            return None
        view = _view(self.proposal)
        size = dict(view.kinds).get(str(self.proposal.facts["proposal"]["kind"]), 0)  # type: ignore[index,call-overload]
        stay = [node for node in view.nodes if node.name not in {*self.stopped, self.leaves}]
        moved = sum(node.assigned for node in view.nodes if node.name == self.leaves)
        return free_capacity(stay) - moved + size * len(self.started)


def node_stories(journal: JournalReader) -> list[NodeStory]:
    """Every decision of a journal that was about nodes, in order."""
    found: list[NodeStory] = []
    open_: list[NodeStory] = []
    """Stories that have not ended."""
    proposals: dict[str, Entry] = {}
    for number, entry in journal.read():
        facts: Mapping[str, Any] = entry.facts
        if entry.kind == REGION_PROPOSAL:
            proposals[str(facts["by"])] = entry
            for story in [story for story in open_ if story.is_over and _is_of(story, entry)]:
                story.after = entry
                open_.remove(story)
        elif entry.kind == NODE_JOINED:
            _has_come(open_, str(facts["name"]), entry.at_seconds)
        elif entry.kind in {NODES, INFRASTRUCTURE} and not _ends(open_, entry):
            story = NodeStory(number, entry, _asked(proposals.values(), entry))
            found.append(story)
            if "refused" not in facts:
                open_.append(story)
    return found


def region_seen(view: RegionView) -> str:
    """View of a region manager in words."""
    taken, places = sum(node.assigned for node in view.nodes), sum(node.capacity for node in view.nodes)
    told = f"{len(view.nodes)} nodes in {view.region or 'the only region'} with {places} places, {taken} of them taken"
    if len(view.nodes) > MOST_NAMED:
        return told
    return ", ".join([told, *(f"{node.name} {_busy(node)}" for node in view.nodes)])


def _busy(node: RentedNode) -> str:
    return "not yet heard of" if node.utilization is None else f"{node.utilization:.0%} busy"


def _view(proposal: Entry) -> RegionView:
    return RegionView.from_plain(proposal.facts["view"])  # type: ignore[arg-type]


def _is_of(story: NodeStory, proposal: Entry) -> bool:
    """Whether a look is at the region that a story is about."""
    return story.proposal is not None and story.proposal.facts["by"] == proposal.facts["by"]


def _has_come(open_: Sequence[NodeStory], node: str, at_seconds: float) -> None:
    for story in open_:
        if node in story.started and node not in story.came and story.ending is None:
            story.came[node] = at_seconds - story.decision.at_seconds


def _ends(open_: Sequence[NodeStory], entry: Entry) -> bool:
    """Whether an entry is the end of a story that has begun; it is told there then."""
    facts: Mapping[str, Any] = entry.facts
    for story in [story for story in reversed(open_) if not story.is_over]:
        if story.leaves is not None and story.leaves in {facts.get("cancelled"), *facts.get("stopped", ())}:
            story.ending = entry
            # With others that came or went it is a story of its own as well.
            return not facts.get("started") and list(facts.get("stopped", ())) in ([], [story.leaves])
        if set(facts.get("given_up", ())) & set(story.started):
            story.ending = entry
            return True
    return "cancelled" in facts or "given_up" in facts


def _asked(proposals: Iterable[Entry], decision: Entry) -> Entry | None:
    """The region's wish that a decision answers: the last one that names what it is about."""
    facts: Mapping[str, Any] = decision.facts
    for proposal in reversed(list(proposals)):
        if is_holding(proposal):
            continue
        wish: Mapping[str, Any] = proposal.facts
        if decision.kind == NODES and facts["by"] == wish["by"]:
            return proposal
        if facts.get("region") == wish["view"]["region"]:
            return proposal
        if facts.get("vacate", str(facts.get("refused", "")).removeprefix("vacate ")) in wish["proposal"]["vacate"]:
            return proposal
    return None
