"""Model-based reinforcement learning of EDF 5.2.2: learns rate transitions and the cost of too few replicas.

What follows from an action is known (one replica more is one replica more); only the rates and the penalties are
estimated. Every step backs up the whole table once: `[rate level, replicas - 1, action]`.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from rheostat.policies.contract.policy import Proposal, hold
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
    forbidden,
    greatest_gain_in,
    proposal_for,
    step_as_list,
    step_from_list,
    untried,
)
from rheostat.policies.operators.period_cost import Weights, known_cost, unknown_cost


@dataclass(frozen=True, slots=True, eq=False)
class LearnedModel:
    """Everything learned so far."""

    moves: Table
    """n_{jj'}: number of transitions of the rate from level j to level j'."""
    penalties: Table
    """ĉ_u(s): [rate level, replicas - 1]."""
    values: Table
    """Q(s, a)."""
    before: LearningStep | None = None
    """The last state; None if it was unknown."""
    greatest_gain: float = 0.0
    """Largest Q(s_h, 0) - Q(s_h, a) so far."""

    @property
    def replicas(self) -> int:
        """K_max."""
        return int(self.penalties.shape[1])


@dataclass(frozen=True, slots=True)
class ModelBased(Learner):
    """Full-backup model-based reinforcement learning on (replicas, rate)."""

    name: ClassVar[str] = "model-based"

    sweeps: int = 1
    """Full backups per decision; Algorithm 2 does one."""

    def __post_init__(self) -> None:
        """Rejects settings that cannot converge."""
        Learner.__post_init__(self)
        if self.sweeps < 1:
            raise ValueError(f"need sweeps >= 1, got {self}")

    def begin(self) -> LearnedModel | None:
        """No model, since the number of replicas is unknown."""
        return None

    def decide(self, view: OperatorView, memory: LearnedModel | None) -> tuple[Proposal, LearnedModel | None]:
        """Learns from the last period, backs up the whole table, and takes the best known action."""
        if view.input_rate_tps is None or view.latency_ms is None:
            return hold(view, "rate or response time is not known"), memory and replace(memory, before=None)
        model = self._model(view, memory)
        here = LearningStep(self.level(view.input_rate_tps), view.replicas)
        if model.before is not None:
            model = self._learned(model, model.before, here, view)
        values = model.values
        for _ in range(self.sweeps):
            values = backed_up(values, transition_estimates(model.moves), model.penalties, self)
        row, actions = values[here.level, here.replicas - 1], allowed_actions(view)
        greatest = greatest_gain_in(row, actions, model.greatest_gain)
        chosen = cheapest(row, actions)
        proposal = proposal_for(view, row, chosen, greatest, f"at {view.input_rate_tps:g} tuples/s")
        return proposal, replace(model, values=values, before=here, greatest_gain=greatest)

    def _model(self, view: OperatorView, memory: LearnedModel | None) -> LearnedModel:
        replicas, levels = max(view.max_replicas, view.replicas), self.rate_levels + 1
        if memory is not None and memory.replicas >= replicas:
            return memory
        return LearnedModel(np.zeros((levels, levels)), np.zeros((levels, replicas)), untried(levels, replicas))

    def _learned(
        self, model: LearnedModel, before: LearningStep, here: LearningStep, view: OperatorView
    ) -> LearnedModel:
        moves = model.moves.copy()
        moves[before.level, here.level] += 1
        action = action_taken(before, view) or 0
        share = view.replicas / view.max_replicas
        paid = unknown_cost(self.weights, self.cost(view, action), changed=action != 0, share_of_replicas=share)
        penalties = model.penalties.copy()
        place = here.level, here.replicas - 1
        penalties[place] = updated_penalty(float(penalties[place]), paid, self.learning_rate)
        return replace(model, moves=moves, penalties=monotone(penalties, *place))

    def saved(self, memory: LearnedModel | None) -> Plain:
        """The three tables and the last state as plain data."""
        if memory is None:
            return None
        return {
            **self.states(),
            "moves": memory.moves.tolist(),
            "penalties": memory.penalties.tolist(),
            "values": as_lists(memory.values),
            "before": step_as_list(memory.before),
            "greatest_gain": memory.greatest_gain,
        }

    def loaded(self, plain: Any) -> LearnedModel | None:
        """The model from plain data."""
        if plain is None:
            return None
        self.check_states(plain)
        moves, penalties = np.array(plain["moves"], dtype=float), np.array(plain["penalties"], dtype=float)
        before = step_from_list(plain["before"])
        return LearnedModel(moves, penalties, as_table(plain["values"]), before, plain["greatest_gain"])


def transition_estimates(moves: Table) -> Table:
    """P̂_{jj'} = n_{jj'} / Σ_l n_{jl} [EDF_5_2, eq. 2].

    Differs: a level without observed transitions is assumed to stay.
    """
    left = moves.sum(axis=1, keepdims=True)
    return np.asarray(np.where(left > 0, moves / np.maximum(left, 1.0), np.eye(len(moves))))


def updated_penalty(penalty: float, paid: float, learning_rate: float) -> float:
    """ĉ_u(s') ← (1 - α) ĉ_u(s') + α c_u,i [EDF, eq. 5]."""
    return (1 - learning_rate) * penalty + learning_rate * paid


def monotone(penalties: Table, level: int, place: int) -> Table:
    """ĉ_u(k, λ) <= ĉ_u(k', λ') for k >= k', λ <= λ', held against the estimate that has just changed [EDF_5_2, eq. 4].

    Fewer replicas or a higher rate cannot cost less, more replicas or a lower rate cannot cost more.
    """
    here = penalties[level, place]
    bounded = penalties.copy()
    bounded[level:, : place + 1] = np.maximum(bounded[level:, : place + 1], here)
    bounded[: level + 1, place:] = np.minimum(bounded[: level + 1, place:], here)
    return bounded


def following_values(estimates: Table, worth: Table) -> Table:
    """Σ_s' p(s'|s, a) w(s') where p((k', λ')|(k, λ), a) is P[λ'|λ] if k' = k + a, else 0 [EDF, eq. 3].

    For every rate level and every number of replicas k' that is reached.
    """
    return np.asarray(estimates @ worth)


def backed_up(values: Table, estimates: Table, penalties: Table, learner: Learner) -> Table:
    """Q(s, a) ← Σ_s' p̂(s'|s, a) [ĉ(s, a, s') + γ min_a' Q(s', a')], for all s and a at once [EDF_5_2, eq. 1]."""
    replicas = values.shape[1]
    expected = following_values(estimates, penalties + learner.discount * values.min(axis=2))
    backed = np.broadcast_to(_known_costs(learner.weights, replicas), values.shape).copy()
    for index, action in enumerate(ACTIONS):
        # Out of k replicas, `action` leads to k + action: the same column, shifted.
        reached = slice(max(0, action), replicas + min(0, action))
        left = slice(max(0, -action), replicas + min(0, -action))
        backed[:, left, index] += expected[:, reached]
    return backed


@lru_cache(maxsize=64)
def _known_costs(weights: Weights, replicas: int) -> Table:
    """c_k(s, a), inf where an action leads out of 1..K_max: [replicas - 1, action]."""
    costs = [
        [known_cost(weights, changed=action != 0, share_of_replicas=(k + action) / replicas) for action in ACTIONS]
        for k in range(1, replicas + 1)
    ]
    return np.array(costs) + forbidden(replicas)
