"""Simulated world as a Gymnasium environment, for policies learned with an external algorithm.

Needs the extra: `pip install rheostat[learn]`. One step is one control period; the reward is the negative of EDF's
cost (1), taken over the whole application.

| action, per operator that can be scaled | means |
|---|---|
| 0, 1, 2 | one replica fewer, as many, one more |

| observation, per operator that can be scaled | from 0 to 1 |
|---|---|
| replicas | by the most it may have |
| utilization | of its replicas |
| input rate | by what its most replicas can serve |
| lag | age a of the oldest tuple that waits, as a / (a + 10 s) |

and at the end, of the application: the response time r by the objective, as r / (r + objective); 1 if nothing leaves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rheostat.control.loop.ports import Done, Refused
from rheostat.model.graph.application import Operator
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.resources import Infrastructure
from rheostat.model.observation import Sample, Subject
from rheostat.model.quality.capacity_use import used_capacity
from rheostat.policies.operators.period_cost import Weights, period_cost
from rheostat.simulation.queues.servers import capacity_tps
from rheostat.simulation.world.scenario import Scenario, reasons_against
from rheostat.simulation.world.simulated_world import SimulatedWorld

Observation = NDArray[np.float32]
LAG_SECONDS = 10.0
"""Lag at which the observation is 0.5."""


@dataclass(frozen=True, slots=True)
class Task:
    """Learning task: a scenario with its objective and periods."""

    scenario: Scenario
    objective_ms: float = 250.0
    """R_max: a longer response time costs."""
    period_seconds: float = 30.0
    """Seconds between two actions."""
    periods: int = 1440
    """Number of periods of an episode."""
    weights: Weights = Weights()

    def __post_init__(self) -> None:
        """Rejects a task without decisions."""
        if not (self.objective_ms > 0 and self.period_seconds > 0 and self.periods >= 1):
            raise ValueError(f"need an objective, a period and a number of periods > 0, got {self}")
        if not self.elastic:
            raise ValueError(f"no operator of {self.scenario.application.name} can be scaled: nothing can be learned")

    @property
    def elastic(self) -> tuple[Operator, ...]:
        """Operators whose number of replicas can be changed."""
        return tuple(op for op in self.scenario.application.operators if op.max_replicas > op.min_replicas)


class ScalingEnvironment(gymnasium.Env[Observation, NDArray[np.int64]]):
    """Environment that scales every operator of an application, period by period."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own declaration is no ClassVar

    def __init__(self, task: Task) -> None:
        self.task = task
        self.action_space = spaces.MultiDiscrete([3] * len(task.elastic))
        self.observation_space = spaces.Box(0.0, 1.0, (4 * len(task.elastic) + 1,), np.float32)
        self.world = SimulatedWorld(task.scenario)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Creates a new world; its random numbers follow from the seed."""
        super().reset(seed=seed, options=options)
        self.world = SimulatedWorld(self.task.scenario, int(self.np_random.integers(2**31)))
        self.world.wait_until(self.task.period_seconds)
        figures = _latest(self.world.samples())
        return self._observed(figures), self._told(figures, "")

    def step(self, action: NDArray[np.int64]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Changes the deployment if the action says so, and advances time by a period."""
        began = self.world.now_seconds()
        change, refused = self._change(action), ""
        effect = self.world.apply(change)
        if isinstance(effect, Refused):
            refused = "; ".join(effect.reasons)
        # A change takes time, too; the next action is due at the end of the next period.
        self.world.wait_until(max(began + self.task.period_seconds, self.world.now_seconds()))
        figures = _latest(self.world.samples())
        told = self._told(figures, refused)
        most = sum(op.max_replicas for op in self.task.scenario.application.operators)
        response = told["response_ms"]
        cost = period_cost(
            self.task.weights,
            changed=bool(change) and isinstance(effect, Done),
            too_slow=response is None or response > self.task.objective_ms,
            share_of_replicas=told["replicas"] / most,
        )
        over = self.world.now_seconds() >= (self.task.periods + 1) * self.task.period_seconds - 1e-9
        return self._observed(figures), -cost, False, over, told

    def _change(self, action: NDArray[np.int64]) -> Reconfiguration:
        """The reconfiguration of an action, as far as bounds and nodes allow."""
        wanted, infrastructure = self.world.deployment(), self.world.infrastructure()
        for operator, step in zip(self.task.elastic, action.tolist(), strict=True):
            after = _with_step(self.task.scenario, infrastructure, wanted, operator, step - 1)
            wanted = wanted.having(operator.name, after)
        return Reconfiguration.between(self.world.deployment(), wanted)

    def _observed(self, figures: Mapping[Subject, Mapping[str, float]]) -> Observation:
        values = []
        for operator in self.task.elastic:
            seen = figures.get(Subject.operator(operator.name), {})
            able = capacity_tps(operator.latency) * operator.max_replicas
            lag = seen.get("lag_seconds", 0.0)
            values += [
                len(self.world.deployment()[operator.name]) / operator.max_replicas,
                seen.get("utilization", 0.0),
                min(seen.get("input_rate", 0.0) / able, 1.0),
                lag / (lag + LAG_SECONDS),
            ]
        response = self._response_ms(figures)
        values.append(1.0 if response is None else response / (response + self.task.objective_ms))
        return np.array(values, dtype=np.float32)

    def _response_ms(self, figures: Mapping[Subject, Mapping[str, float]]) -> float | None:
        return figures.get(Subject.application(self.task.scenario.application.name), {}).get("response_mean_ms")

    def _told(self, figures: Mapping[Subject, Mapping[str, float]], refused: str) -> dict[str, Any]:
        deployment = self.world.deployment()
        return {
            "at_seconds": self.world.now_seconds(),
            "response_ms": self._response_ms(figures),
            "replicas": sum(len(replicas) for _, replicas in deployment.items()),
            "downtime_seconds": self.world.downtime_seconds,
            "refused": refused,
        }


def _latest(samples: Sequence[Sample]) -> dict[Subject, Mapping[str, float]]:
    """The last sample of every subject."""
    return {sample.subject: sample.figures for sample in samples}


def _with_step(
    scenario: Scenario, infrastructure: Infrastructure, current: Deployment, operator: Operator, step: int
) -> Replicas:
    """One replica more where there is most room, or one fewer where there is least; the same if that cannot be."""
    replicas = current[operator.name]
    if not operator.min_replicas <= len(replicas) + step <= operator.max_replicas or step == 0:
        return replicas
    used = used_capacity(scenario.application, current)
    room = {node.name: node.capacity - used.get(node.name, 0.0) for node in infrastructure.nodes}
    if step < 0:
        # What is on a node that is lost goes first: it does nothing.
        return replicas.plus(min(replicas, key=lambda node: (room.get(node, -np.inf), node)), -1)
    for node in sorted(room, key=lambda name: (-room[name], name)):
        wanted = current.having(operator.name, replicas.plus(node))
        if operator.may_run_on(node) and room[node] >= operator.resources and node in infrastructure.index:
            return replicas if reasons_against(scenario.application, infrastructure, wanted) else wanted[operator.name]
    return replicas
