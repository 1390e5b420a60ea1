"""A learner that has practised in the simulator before its first tuple on Spark.

A run of minutes is too short to learn in by trial. What the simulator teaches is how the rate moves and which rates are
too much for how many replicas; the operator is as declared, so nothing of the run on Spark is known before it.
"""

from dataclasses import replace

from experiments.spark.workload import AT_FIRST, MOST_REPLICAS, THREE_NODES, Load
from rheostat.control.loop.ports import Entry
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.model.downtime.measured_pauses import ChangeWay, Measured, Pause
from rheostat.model.graph.deployment import Deployment
from rheostat.simulation.load.workload import CurveWorkload
from rheostat.simulation.studies.simulated_run import simulate
from rheostat.simulation.world.scenario import Scenario

RATES_TPS = (10, 20, 30, 40, 50, 60, 70, 80)
STAY_SECONDS, TIMES = 120.0, 4
SECONDS = 2 * len(RATES_TPS) * STAY_SECONDS * TIMES
CURVE = "; ".join(f"{rate} for {STAY_SECONDS:g}" for rate in (*RATES_TPS, *reversed(RATES_TPS))) + "; repeat"
"""Up and down, and at every rate for as long as it takes to see what it does to how many replicas."""
PAUSE_SECONDS = 3.0
"""About what a change of a stateless operator takes."""


def practised(load: Load, settings: ControlSettings) -> tuple[Entry, ...]:
    """What managers with these settings have learned: first by looking, then in two hours of deciding, in seconds.

    Who only decides leaves a place as soon as it is known to be just too bad to stay. Of one replica under too high a
    rate a third of its price was known then, and one period in which answers were still in time undid the decision.
    """
    learned: tuple[Entry, ...] = ()
    for replicas in range(1, MOST_REPLICAS + 1):
        for rate in RATES_TPS:
            looking = replace(settings, dry_run=True)
            scenario = _scenario(load, settings, f"{rate}", replicas)
            learned = simulate(scenario, looking, STAY_SECONDS, learned=learned).lessons
    return simulate(_scenario(load, settings, CURVE, 1), settings, SECONDS, learned=learned).lessons


def _scenario(load: Load, settings: ControlSettings, curve: str, replicas: int) -> Scenario:
    """The load's application under some other load, with so many replicas of `split` at first."""
    period = settings.manager_period()
    return Scenario(
        load.application(),
        THREE_NODES,
        Deployment.of({**dict(AT_FIRST.items()), "split": {"n2": replicas}}),
        CurveWorkload.of(curve),
        downtime=Measured({ChangeWay.STATELESS: Pause(PAUSE_SECONDS)}),
        step_seconds=period / 4,
        sample_seconds=period / 2,
    )
