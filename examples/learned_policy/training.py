"""Finds the four numbers of a linear policy with CMA-ES, over the Gymnasium environment.

The search is the `cma` package, unchanged: it proposes numbers and hears what an episode with them has cost. It knows
nothing of stream processing, and Rheostat nothing of it.
"""

import json
from pathlib import Path

import cma
import numpy as np

from rheostat.policies.operators.linear import Linear
from rheostat.simulation.studies.scaling_environment import ScalingEnvironment, Task

PER_OPERATOR = 4
"""Figures in an observation for every operator that can be scaled; the policy takes the first three."""


def episode_cost(environment: ScalingEnvironment, policy: Linear, seed: int) -> float:
    """What an episode costs with a policy, by EDF's (1)."""
    observed, _ = environment.reset(seed=seed)
    cost, over = 0.0, False
    while not over:
        figures = observed[:-1].reshape(-1, PER_OPERATOR)[:, :3].tolist()
        action = np.array([1 + policy.step(*each) for each in figures])
        observed, reward, _, over, _ = environment.step(action)
        cost -= reward
    return cost


def trained(task: Task, evaluations: int, seed: int = 0) -> Linear:
    """The best policy that so many episodes lead to, from the policy's defaults on."""
    environment = ScalingEnvironment(task)
    quiet = {"verbose": -9, "seed": seed + 1, "maxfevals": evaluations}  # CMA-ES takes a seed of 0 for the time of day
    search = cma.CMAEvolutionStrategy(list(Linear().coefficients), 1.0, quiet)
    while not search.stop():
        asked = search.ask()
        search.tell(asked, [episode_cost(environment, Linear(tuple(map(float, one))), seed) for one in asked])
    return Linear(tuple(map(float, search.result.xbest)))


def save(policy: Linear, path: Path) -> None:
    """As the settings that `rheostat simulate --policy linear` takes."""
    path.write_text(json.dumps({"policy": policy.name, "options": {"coefficients": policy.coefficients}}) + "\n")


def load(path: Path) -> Linear:
    """What was saved."""
    return Linear(**json.loads(path.read_text())["options"])
