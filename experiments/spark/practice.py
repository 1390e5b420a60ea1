"""A learner that has practised in the simulator before its first tuple on Spark.

A run of minutes is too short to learn in by trial. What the simulator teaches is how the rate moves and which rates are
too much for how many replicas; the operator is as declared, so nothing of the run on Spark is known before it.
"""

from experiments.spark.workload import AT_FIRST, THREE_NODES, Load
from rheostat.control.ports import Entry
from rheostat.control.settings import ControlSettings
from rheostat.model.measured import Measured, Pause, Way
from rheostat.simulation.running import simulate
from rheostat.simulation.scenario import Scenario
from rheostat.simulation.workload import CurveWorkload

RATES_TPS = (10, 20, 30, 40, 50, 60, 70, 80)
STAY_SECONDS, TIMES = 120.0, 4
SECONDS = 2 * len(RATES_TPS) * STAY_SECONDS * TIMES
CURVE = "; ".join(f"{rate} for {STAY_SECONDS:g}" for rate in (*RATES_TPS, *reversed(RATES_TPS))) + "; repeat"
"""Up and down, and at every rate for as long as it takes to see what it does to how many replicas."""
PAUSE_SECONDS = 3.0
"""About what a change of a stateless operator takes."""


def practised(load: Load, settings: ControlSettings) -> tuple[Entry, ...]:
    """What managers with these settings have learned after two hours, which take seconds."""
    period = settings.manager_period()
    scenario = Scenario(
        load.application(),
        THREE_NODES,
        AT_FIRST,
        CurveWorkload.of(CURVE),
        downtime=Measured({Way.STATELESS: Pause(PAUSE_SECONDS)}),
        step_seconds=period / 4,
        sample_seconds=period / 2,
    )
    return simulate(scenario, settings, SECONDS).lessons
