"""Trains a policy for the clicks of the tour, and lets the application manager run it on a day it has not seen.

python -m examples.learned_policy.train [--evaluations N] [--output FILE]
"""

import argparse
from pathlib import Path

from examples.learned_policy.training import save, trained
from rheostat.control.managers.initial_deployment import near_its_inputs
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.model.documents import read
from rheostat.policies.operators.period_cost import Weights
from rheostat.simulation.load.workload import CurveWorkload
from rheostat.simulation.queues.noise import Noise
from rheostat.simulation.studies.latency_curves import shared_bounds
from rheostat.simulation.studies.run_cost import total_cost
from rheostat.simulation.studies.scaling_environment import Task
from rheostat.simulation.studies.simulated_run import simulate
from rheostat.simulation.world.scenario import Scenario

DOCUMENTS = Path(__file__).parents[1] / "documents"
OBJECTIVE_MS = 100.0
KNOWN, UNSEEN = "sine 100 1200 3600", "spikes 150 1100 2700 900"
"""What it is trained on, and what it is tried on."""
SECONDS = 7200.0


def scenario(curve: str) -> Scenario:
    """The clicks on their sites, with rates and measurements that scatter."""
    application, infrastructure = (read(DOCUMENTS / f"{name}.yaml").value for name in ("clicks", "sites"))
    return Scenario(
        application,
        infrastructure,
        near_its_inputs(application, infrastructure),
        CurveWorkload.of(curve),
        noise=Noise(0.05, 10.0, 0.05),
        sample_seconds=30.0,
    )


def cost_under_the_manager(policy: str, options: dict[str, object], curve: str = UNSEEN) -> tuple[float, int]:
    """What two hours cost, and how many changes were made, with the application manager and all it checks."""
    world = scenario(curve)
    bounds = shared_bounds(world.application, world.behaviours, OBJECTIVE_MS)
    run = simulate(world, ControlSettings("edf", policy, options), SECONDS, seed=7, objective_ms=OBJECTIVE_MS)
    changes = sum(note.kind == "done" for note in run.recording.notes)
    return total_cost(run.recording, world.application, bounds, Weights()), changes


def main() -> None:
    """Trains, saves, and tells what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=120)
    parser.add_argument("--output", type=Path, default=Path("learned.json"))
    chosen = parser.parse_args()
    policy = trained(Task(scenario(KNOWN), OBJECTIVE_MS, periods=120), chosen.evaluations)
    save(policy, chosen.output)
    print(f"written: {chosen.output}: {policy}")
    learned = {"coefficients": policy.coefficients}
    for name, options in (("hold", {}), ("threshold", {}), ("linear", {}), ("linear", learned)):
        cost, changes = cost_under_the_manager(name, options)
        told = " as trained" if options else ""
        print(f"{name + told:<18} costs {cost:6.1f} on rates it has not seen, with {changes} changes")


if __name__ == "__main__":
    main()
