"""Elastic Storm VI: frequent patterns over five phases of fifteen minutes, with and without elasticity.

The service time of the Detector is fixed beforehand in `reference.patterns` (15 ms per tweet) and justified there: it
follows from the thresholds and the rates of the phases within narrow limits. The workers have room for the 24 executors
of the busiest phase, at most E/N = 5 on each; a change restarts everything (6 s) and waits at the barriers of the
stateful migration for ten more, the overhead of Fig. 7d.
"""

from rheostat.model.downtime.full_restart import FullRestart
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.reference.patterns import EXECUTORS, PHASES_TPS, frequent_patterns
from rheostat.simulation.load.workload import CurveWorkload
from rheostat.simulation.queues.noise import Noise
from rheostat.simulation.world.scenario import Scenario

PHASE_SECONDS = 900.0
SECONDS = PHASE_SECONDS * len(PHASES_TPS)
PERIOD_SECONDS = 10.0
"""T_nbs: the ElasticityManager runs with the scheduler."""
START_DETECTORS = 20
"""Fig. 5 starts with one executor per task; Table I's 5 are those of the run without elasticity."""
WORKERS = 5
DETECTORS = (20, 10, 5, 10, 20, 10, 5)
"""What Fig. 5 shows."""
SYNC_SECONDS = 16.0
"""6 s of Storm's rebalance and about 10 s of barriers [Elastic Storm VI-C]."""


def workers() -> Infrastructure:
    """Five machines of four virtual processors; as many executors on each as an even share needs."""
    return Infrastructure("workers", tuple(Node(f"worker{i}", resources=6.0) for i in range(1, WORKERS + 1)))


def deployment(executors: dict[str, int], application: Application) -> Deployment:
    """One executor after the other, one worker after the other: an even share for each."""
    placed, turn = {}, 0
    for name in application.flow:
        nodes = [f"worker{1 + (turn + i) % WORKERS}" for i in range(executors[name])]
        placed[name], turn = Replicas.on(*nodes), turn + executors[name]
    return Deployment.of(placed)


def scenario(*, elastic: bool) -> Scenario:
    """The five phases; tweets come by chance, as the exponential source sends them."""
    application = frequent_patterns(rate_tps=max(PHASES_TPS))
    executors = {**EXECUTORS, "Detector": START_DETECTORS} if elastic else dict(EXECUTORS)
    phases = "; ".join(f"{rate:g} for {PHASE_SECONDS:g}" for rate in PHASES_TPS)
    return Scenario(
        application,
        workers(),
        deployment(executors, application),
        CurveWorkload.of(phases),
        downtime=FullRestart(SYNC_SECONDS),
        noise=Noise(rate=0.05, correlation_seconds=2.0, measurement=0.02),
        sample_seconds=PERIOD_SECONDS,
    )
