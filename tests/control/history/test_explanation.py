"""The journal, told as a person would: entry by entry."""

import pytest

from rheostat.control.history.explanation import explained, explanation, is_holding
from rheostat.control.history.journal import MemoryJournal
from rheostat.control.loop.ports import Entry

VIEW = {"operator": "count", "replicas": 2}
REGION = {"kind": "small", "start": 0, "stop": [], "vacate": [], "reason": "room for 3 replicas, 5 are wanted"}
STILL = "standing still."
PLANNED = {
    "by": "planned manager of words",
    "status": "optimal",
    "change": "migration count: {n1:1} -> {n2:1}",
    "predicted": {"response_ms": 80.4, "cost_per_hour": 9.5, "downtime_seconds": 0.8},
}


def proposals(wanted):
    proposal = {"wanted": wanted, "score": 0.5, "reason": "it is busy"}
    return {"by": "application manager of words", "view": {"operators": [VIEW]}, "proposals": {"count": proposal}}


@pytest.mark.parametrize(
    ("kind", "facts", "told", "holding"),
    [
        (
            "application proposal",
            proposals(4),
            "application manager of words would change count from 2 to 4 (score 0.50): it is busy.",
            False,
        ),
        ("application proposal", proposals(2), "application manager of words would change nothing.", True),
        (
            "region proposal",
            {"by": "region manager of rome", "proposal": {**REGION, "start": 2}},
            "region manager of rome wants to start 2 small: room for 3 replicas, 5 are wanted.",
            False,
        ),
        (
            "region proposal",
            {"by": "region manager of rome", "proposal": {**REGION, "stop": ["n1"], "vacate": ["n2", "n3"]}},
            "region manager of rome wants to stop n1 and vacate n2, n3: room for 3 replicas, 5 are wanted.",
            False,
        ),
        (
            "region proposal",
            {"by": "region manager of rome", "proposal": REGION},
            "region manager of rome wants to change nothing: room for 3 replicas, 5 are wanted.",
            True,
        ),
        (
            "plan",
            PLANNED,
            f"{PLANNED['by']} planned (optimal): {PLANNED['change']}; expects 80 ms at 9.50 $/h, 0.80 s of {STILL}",
            False,
        ),
        ("plan", {"by": "planned manager", "held": "no rates"}, "planned manager holds: no rates.", False),
        (
            "nodes",
            {"by": "region manager", "started": ["a", "b"], "stopped": [], "reason": "more room is wanted"},
            "region manager: started a, b, since more room is wanted.",
            False,
        ),
        (
            "nodes",
            {"by": "region manager", "given_up": ["a"], "reason": "not up after 600 s"},
            "region manager: given up a, since not up after 600 s.",
            False,
        ),
        (
            "infrastructure",
            {"by": "infrastructure manager", "vacate": "n1", "reason": "it is under-used"},
            "infrastructure manager asks all applications to leave n1: it is under-used.",
            False,
        ),
        (
            "infrastructure",
            {"by": "infrastructure manager", "cancelled": "n1", "reason": "not left within 300 s"},
            "infrastructure manager lets n1 be used again: not left within 300 s.",
            False,
        ),
        (
            "infrastructure",
            {"by": "infrastructure manager", "refused": "vacate n1", "reason": "pinned", "application": "words"},
            "Refused by words: vacate n1; pinned.",
            False,
        ),
        (
            "infrastructure",
            {"by": "infrastructure manager", "refused": "start 2 small", "reason": "region rome is inhibited"},
            "Refused: start 2 small; region rome is inhibited.",
            False,
        ),
        (
            "effect",
            {"outcome": "rolled back", "change": "migration", "reasons": ["n1 was lost"]},
            "Rolled back: migration; n1 was lost.",
            False,
        ),
        ("launch", {"plan": {}}, "", False),
    ],
)
def test_every_entry_is_told(kind, facts, told, holding):
    entry = Entry(kind, 0.0, facts)
    assert explanation(entry) == told
    assert is_holding(entry) is holding


def test_a_plan_that_changes_nothing_is_holding():
    assert is_holding(Entry("plan", 0.0, {**PLANNED, "change": "nothing changes"}))


def test_what_is_not_about_decisions_is_left_out():
    journal = MemoryJournal()
    journal.append(Entry("launch", 1.0, {}))
    journal.append(Entry("plan", 3725.0, PLANNED))
    (line,) = explained(journal)
    assert line.startswith("01:02:05  planned manager of words planned")
