"""Q-learning of EDF 5.2.1: learns by trial and error, without a model of the system."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rheostat.policies.contract.policy import Proposal, decision_random, hold
from rheostat.policies.contract.policy_views import OperatorView, Plain
from rheostat.policies.operators.learner import (
    ACTIONS,
    Learner,
    LearningStep,
    Table,
    action_taken,
    allowed_actions,
    as_lists,
    as_table,
    cheapest,
    greatest_gain_in,
    proposal_for,
    step_as_list,
    step_from_list,
    untried,
)


@dataclass(frozen=True, slots=True, eq=False)
class QMemory:
    """Everything learned so far."""

    values: Table | None = None
    """Q(s, a); None until the number of replicas is known."""
    before: LearningStep | None = None
    """The last state; None if it was unknown."""
    steps: int = 0
    """Number of decisions so far, from which random numbers are derived."""
    greatest_gain: float = 0.0
    """Largest Q(s_h, 0) - Q(s_h, a) so far."""
    asked: int = 0
    """The action chosen in the last state."""


@dataclass(frozen=True, slots=True)
class QLearning(Learner):
    """ε-greedy Q-learning on (replicas, rate)."""

    name: ClassVar[str] = "q-learning"

    exploration: float = 0.05
    """ε: share of the decisions that are random."""
    books_refused: bool = True
    """Whether a refused action counts as taken, as Algorithm 1 says literally: the agent updates the action it
    chose. Otherwise only the action really done counts, and one that is always refused stays as promising as an
    untried one."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Rejects settings that cannot converge."""
        Learner.__post_init__(self)
        if not 0 <= self.exploration <= 1:
            raise ValueError(f"need 0 <= exploration <= 1, got {self}")

    def begin(self) -> QMemory:
        """Nothing is known; Q is 0 everywhere."""
        return QMemory()

    def decide(self, view: OperatorView, memory: QMemory) -> tuple[Proposal, QMemory]:
        """Learns from the cost of the last period, then takes the best known action, or sometimes a random one."""
        if view.input_rate_tps is None or view.latency_ms is None:
            return hold(view, "rate or response time is not known"), replace(memory, before=None)
        values = self._values(view, memory)
        here = LearningStep(self.level(view.input_rate_tps), view.replicas)
        action = None if memory.before is None else self._action(memory, memory.before, view)
        if memory.before is not None and action is not None:
            values = self._learned(values, memory.before, action, here, view)
        row, actions = values[here.level, here.replicas - 1], allowed_actions(view)
        greatest = greatest_gain_in(row, actions, memory.greatest_gain)
        random = decision_random(self.seed, view.operator, memory.steps)
        if random.random() < self.exploration:
            chosen, why = random.choice(actions), "explored"
        else:
            chosen, why = cheapest(row, actions), f"at {view.input_rate_tps:g} tuples/s"
        proposal = proposal_for(view, row, chosen, greatest, why)
        return proposal, QMemory(values, here, memory.steps + 1, greatest, ACTIONS[chosen])

    def _action(self, memory: QMemory, before: LearningStep, view: OperatorView) -> int | None:
        """The action to learn from; None if another action was done than requested, for example by a planner."""
        done = action_taken(before, view)
        return memory.asked if self.books_refused and done == 0 else done

    def _values(self, view: OperatorView, memory: QMemory) -> Table:
        replicas = max(view.max_replicas, view.replicas)
        if memory.values is not None and memory.values.shape[1] >= replicas:
            return memory.values
        return untried(self.rate_levels + 1, replicas)

    def _learned(
        self, values: Table, before: LearningStep, action: int, here: LearningStep, view: OperatorView
    ) -> Table:
        place = (before.level, before.replicas - 1, ACTIONS.index(action))
        following = float(values[here.level, here.replicas - 1].min())
        learned = values.copy()
        learned[place] = updated_value(
            float(values[place]), self.cost(view, action), following, self.learning_rate, self.discount
        )
        return learned

    def saved(self, memory: QMemory) -> Plain:
        """The table and the last state as plain data."""
        return {
            **self.states(),
            "values": None if memory.values is None else as_lists(memory.values),
            "before": step_as_list(memory.before),
            "steps": memory.steps,
            "greatest_gain": memory.greatest_gain,
            "asked": memory.asked,
        }

    def loaded(self, plain: Any) -> QMemory:
        """The memory from plain data."""
        self.check_states(plain)
        values = None if plain["values"] is None else as_table(plain["values"])
        return QMemory(values, step_from_list(plain["before"]), plain["steps"], plain["greatest_gain"], plain["asked"])


def updated_value(value: float, cost: float, following: float, learning_rate: float, discount: float) -> float:
    """Q(s_i, a_i) ← (1 - α) Q(s_i, a_i) + α [c_i + γ min_a' Q(s_{i+1}, a')] [EDF, eq. 2]."""
    return (1 - learning_rate) * value + learning_rate * (cost + discount * following)
