"""Explanations of journal entries in words.

One sentence or a few per entry: what was seen, what was proposed with which score, what was refused by whom and why,
what was expected and what came of it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rheostat.control.loop.ports import Entry, JournalReader
from rheostat.control.managers.application_manager import APPLICATION_PROPOSAL
from rheostat.control.managers.decisions import BY_HAND, DECISION, EFFECT, MEASURED, Decision
from rheostat.control.managers.infrastructure_manager import INFRASTRUCTURE
from rheostat.control.managers.node_manager import MIGRATION
from rheostat.control.managers.operator_manager import MEMORY, PROPOSAL
from rheostat.control.managers.planned_manager import PLAN, changes_something
from rheostat.control.managers.region_manager import NODES, REGION_PROPOSAL
from rheostat.policies.nodes.region_size import RegionProposal

Facts = Mapping[str, Any]


def explained(journal: JournalReader, *, holding: bool = False) -> Iterator[str]:
    """Every entry that says something, in order; with `holding`, also the times when nothing was to be done."""
    for _, entry in journal.read():
        told = explanation(entry)
        if told and (holding or not is_holding(entry)):
            yield f"{clock_time(entry.at_seconds)}  {told}"


def explanation(entry: Entry) -> str:
    """One entry in words; "" for one that is not about decisions."""
    tell = _TELL.get(entry.kind)
    return tell(entry.facts) if tell is not None else ""


def is_holding(entry: Entry) -> bool:
    """Whether no change was wanted."""
    facts: Facts = entry.facts
    if entry.kind == PROPOSAL:
        return bool(facts["proposal"]["wanted"] == facts["view"]["replicas"])
    if entry.kind == APPLICATION_PROPOSAL:
        return not _wanted(facts)
    if entry.kind == DECISION:
        return not facts["requests"]
    if entry.kind == REGION_PROPOSAL:
        return not RegionProposal.from_plain(facts["proposal"])
    return entry.kind == PLAN and "held" not in facts and not changes_something(facts)


def clock_time(seconds: float) -> str:
    """Seconds since the start, as hours, minutes and seconds.

    >>> clock_time(3725.5)
    '01:02:05'
    """
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def _proposal(facts: Facts) -> str:
    view, proposal = facts["view"], facts["proposal"]
    if proposal["wanted"] == view["replicas"]:
        heard = "".join(f" {_silence(name, since)}" for name, since in facts["silences"].items())
        return f"{facts['by']} holds {view['replicas']} replicas: {proposal['reason']}.{heard}"
    told = (
        f"{facts['by']} wants {proposal['wanted']} instead of {view['replicas']} replicas "
        f"(score {proposal['score']:.2f}): {proposal['reason']}."
    )
    if facts["request"] is None:
        return f"{told} It finds no node with room."
    return f"{told} It asks for {_multiset(facts['request']['after'])} instead of {_multiset(facts['current'])}."


def _silence(figure: str, seconds: float | None) -> str:
    if seconds is None:
        return f"No {figure.replace('_', ' ')} sample yet."
    return f"The last {figure.replace('_', ' ')} sample is {seconds:.0f} s old."


def _application_proposal(facts: Facts) -> str:
    wanted = _wanted(facts)
    if not wanted:
        return f"{facts['by']} would change nothing."
    return f"{facts['by']} would change " + "; ".join(wanted) + "."


def _wanted(facts: Facts) -> list[str]:
    has = {view["operator"]: view["replicas"] for view in facts["view"]["operators"]}
    return [
        f"{operator} from {has[operator]} to {proposal['wanted']} (score {proposal['score']:.2f}): {proposal['reason']}"
        for operator, proposal in facts["proposals"].items()
        if proposal["wanted"] != has[operator]
    ]


def _migration(facts: Facts) -> str:
    found = facts["proposal"]
    told = (
        f"{facts['by']} wants a replica of {found['operator']} moved to {found['target']} "
        f"(score {found['score']:.2f}): {found['reason']}."
    )
    return told if facts["request"] is not None else f"{told} It may not run there."


def _decision(facts: Facts) -> str:
    decision = Decision.from_facts(facts)
    response = decision.seen.response_ms
    seen = "The response time is not known" if response is None else f"The response time is {response:.0f} ms"
    told = [f"{decision.by}: {len(decision.requests)} requests, {len(decision.granted)} granted.", f"{seen}."]
    told += [f"Granted: {request}." for request in decision.granted]
    told += [f"Refused by {refusal.by}: {refusal.request}; {refusal.reason}." for refusal in decision.refusals]
    return " ".join(told)


def _effect(facts: Facts) -> str:
    if facts["outcome"] == "done":
        return f"Done: {facts['change']}; it stood still for {facts['downtime_seconds']:.2f} s."
    return f"{facts['outcome'].capitalize()}: {facts['change']}; {'; '.join(facts['reasons'])}."


def _measured(facts: Facts) -> str:
    expected, measured = facts["predicted"], facts["measured"]
    told = []
    for operator, busy in expected["utilization"].items():
        is_busy = measured["utilization"].get(operator)
        found = "how busy it is was not measured" if is_busy is None else f"is {is_busy:.0%} busy"
        told.append(f"{operator} was expected to be {busy:.0%} busy and {found}")
    before, wanted = expected["response_before_ms"], expected.get("response_ms")
    was = "was not known" if before is None else f"was {before:.0f} ms"
    hoped = "" if wanted is None else f", was expected to become {wanted:.0f} ms"
    told.append(f"the response time {was}{hoped} and is {measured['response_ms']:.0f} ms")
    return f"After {facts['change']}: " + "; ".join(told) + "."


def _plan(facts: Facts) -> str:
    if "held" in facts:
        return f"{facts['by']} holds: {facts['held']}."
    predicted = facts["predicted"]
    return (
        f"{facts['by']} planned ({facts['status']}): {facts['change']}; expects {predicted['response_ms']:.0f} ms "
        f"at {predicted['cost_per_hour']:.2f} $/h, {predicted['downtime_seconds']:.2f} s of standing still."
    )


def _region(facts: Facts) -> str:
    proposal = RegionProposal.from_plain(facts["proposal"])
    return f"{facts['by']} wants to {proposal}: {proposal.reason}."


def _nodes(facts: Facts) -> str:
    done = [
        f"{what.replace('_', ' ')} {', '.join(facts[what])}"
        for what in ("started", "stopped", "given_up")
        if facts.get(what)
    ]
    return f"{facts['by']}: {'; '.join(done)}, since {facts['reason']}."


def _infrastructure(facts: Facts) -> str:
    if "vacate" in facts:
        return f"{facts['by']} asks all applications to leave {facts['vacate']}: {facts['reason']}."
    if "cancelled" in facts:
        return f"{facts['by']} lets {facts['cancelled']} be used again: {facts['reason']}."
    who = f" by {facts['application']}" if "application" in facts else ""
    return f"Refused{who}: {facts['refused']}; {facts['reason']}."


def _memory(facts: Facts) -> str:
    return f"{facts['by']} saved what {facts['policy']} has learned."


def _multiset(counts: Mapping[str, int]) -> str:
    return "{" + ", ".join(f"{node}:{count}" for node, count in counts.items()) + "}"


_TELL: Mapping[str, Callable[[Facts], str]] = {
    PROPOSAL: _proposal,
    APPLICATION_PROPOSAL: _application_proposal,
    MIGRATION: _migration,
    DECISION: _decision,
    EFFECT: _effect,
    BY_HAND: _effect,
    MEASURED: _measured,
    PLAN: _plan,
    REGION_PROPOSAL: _region,
    NODES: _nodes,
    INFRASTRUCTURE: _infrastructure,
    MEMORY: _memory,
}
