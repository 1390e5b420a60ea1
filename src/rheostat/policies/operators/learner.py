"""Base of the two learners of EDF 5.2: states, actions, experience, and the score of an action.

A state is (k, λ): replicas and the rate in quanta. Tables are arrays [rate level, replicas - 1, action].
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheostat.policies.contract.policy import Proposal, hold
from rheostat.policies.contract.policy_views import OperatorView, Plain
from rheostat.policies.operators.period_cost import Weights, period_cost

Table = NDArray[np.float64]

ACTIONS = (0, -1, 1)
"""Changes of the number of replicas; hold comes first, since the first of equally good actions is taken."""
HOLD, SCALE_IN, SCALE_OUT = range(3)


@dataclass(frozen=True, slots=True)
class Learner:
    """Common settings of both learners."""

    weights: Weights = Weights()
    """w_rcf, w_perf, w_res of the cost."""
    latency_bound_ms: float = 250.0
    """R_max,op: an operator with a longer response time pays the performance penalty."""
    rate_quantum_tps: float = 50.0
    """λ̄: width of a rate level; rates that differ by less are the same state."""
    rate_levels: int = 20
    """L: the largest rate level is L λ̄; higher rates count as that. The paper gives no value."""
    discount: float = 0.99
    """γ."""
    learning_rate: float = 0.1
    """α."""

    def __post_init__(self) -> None:
        """Rejects settings that cannot converge."""
        if not (self.latency_bound_ms > 0 and self.rate_quantum_tps > 0 and self.rate_levels >= 1):
            raise ValueError(f"need latency_bound_ms > 0, rate_quantum_tps > 0 and rate_levels >= 1, got {self}")
        if not (0 <= self.discount < 1 and 0 < self.learning_rate <= 1):
            raise ValueError(f"need 0 <= discount < 1 and 0 < learning_rate <= 1, got {self}")

    def level(self, rate_tps: float) -> int:
        """The nearest of 0, λ̄, 2 λ̄, ..., L λ̄, as a number."""
        return min(self.rate_levels, int(rate_tps / self.rate_quantum_tps + 0.5))

    def check_states(self, plain: Mapping[str, Any]) -> None:
        """Rejects values learned for other states: the same number would mean another rate."""
        quantum, levels = plain["rate_quantum_tps"], plain["rate_levels"]
        if (quantum, levels) != (self.rate_quantum_tps, self.rate_levels):
            mine = f"{self.rate_levels} levels of {self.rate_quantum_tps:g} tuples/s"
            raise ValueError(f"it was learned with {levels} levels of {quantum:g} tuples/s, these are {mine}")

    def states(self) -> dict[str, Plain]:
        """Definition of the rate levels, to be saved with the learned values."""
        return {"rate_quantum_tps": self.rate_quantum_tps, "rate_levels": self.rate_levels}

    def cost(self, view: OperatorView, action: int) -> float:
        """Cost of the period that ends with this view, after the given action."""
        return period_cost(
            self.weights,
            changed=action != 0,
            too_slow=view.latency_ms is not None and view.latency_ms > self.latency_bound_ms,
            share_of_replicas=view.replicas / view.max_replicas,
        )


@dataclass(frozen=True, slots=True)
class LearningStep:
    """State of the operator at the last view."""

    level: int
    replicas: int


def action_taken(before: LearningStep, view: OperatorView) -> int | None:
    """The action that was really done since: a request may have been refused, or a planner may have done more.

    None if it is not one of the actions; then nothing is learned.
    """
    action = view.replicas - before.replicas
    return action if action in ACTIONS else None


def allowed_actions(view: OperatorView) -> list[int]:
    """𝒜(s), as indices: numbers of replicas within the bounds."""
    return [
        index
        for index, action in enumerate(ACTIONS)
        if action == 0 or view.min_replicas <= view.replicas + action <= view.max_replicas
    ]


def proposal_for(view: OperatorView, row: Table, chosen: int, greatest_gain: float, why: str) -> Proposal:
    """The chosen action as a proposal; `row` is Q(s, ·) of this state."""
    if ACTIONS[chosen] == 0:
        return hold(view, f"{why}: hold")
    gain = float(row[HOLD] - row[chosen])
    reason = f"{why}: expected to save {gain:.3g} in the long run"
    return Proposal(view.replicas + ACTIONS[chosen], action_score(gain, greatest_gain), reason)


def greatest_gain_in(row: Table, actions: list[int], past: float) -> float:
    """The largest Q(s_h, 0) - Q(s_h, a) up to and including this state."""
    return max(past, *(float(row[HOLD] - row[index]) for index in actions))


def forbidden(replicas: int) -> Table:
    """Infinite where an action leads out of 1..K_max, else 0: [replicas - 1, action]."""
    table = np.zeros((replicas, len(ACTIONS)))
    table[0, SCALE_IN] = table[-1, SCALE_OUT] = np.inf
    return table


def untried(levels: int, replicas: int) -> Table:
    """Q(s, a) before learning: 0, and infinite where an action is not allowed."""
    return np.broadcast_to(forbidden(replicas), (levels, replicas, len(ACTIONS))).copy()


def cheapest(row: Table, actions: list[int]) -> int:
    """The action of least Q(s, ·), as an index; the first of equally good ones."""
    return min(actions, key=lambda index: (row[index], index))


def action_score(gain: float, greatest_gain: float) -> float:
    """score(a) = (Q(s, 0) - Q(s, a)) / max over the past of {1, Q(s_h, 0) - Q(s_h, a)} [EDF_5_2, eq. 5].

    Differs: not below 0, which the score of an explored action could be.
    """
    return max(0.0, gain / max(1.0, greatest_gain))


def as_lists(table: Table) -> Any:
    """A table as plain lists, with None where an action is not allowed."""
    lists = table.astype(object)
    lists[~np.isfinite(table)] = None
    return lists.tolist()


def as_table(lists: Any) -> Table:
    """The table from plain lists."""
    table = np.array(lists, dtype=float)
    table[np.isnan(table)] = np.inf
    return table


def step_as_list(step: LearningStep | None) -> Plain:
    """The step as plain data."""
    return None if step is None else [step.level, step.replicas]


def step_from_list(plain: Any) -> LearningStep | None:
    """The step from plain data."""
    return None if plain is None else LearningStep(*plain)
