"""Word Count under the control systems that are compared, with the periods of a small machine and a short run."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from experiments.spark.outcome import Controlled
from experiments.spark.practice import practised
from experiments.spark.stage import Piece, on_embedded, perform
from experiments.spark.workload import Load
from rheostat.control.setup.control_settings import ControlSettings, averaging_over
from rheostat.control.setup.factory import Planning
from rheostat.model.quality.objective import Bounds, EdrpObjective
from rheostat.planning.contract.planner import SILENT
from rheostat.planning.contract.problem import Limits
from rheostat.planning.exact.exact import Exact
from rheostat.planning.exact.jit_warm_up import warm_up
from rheostat.policies.operators.model_based import ModelBased

PERIOD_SECONDS, SETTLE_SECONDS = 4.0, 5.0
RESPONSE_BOUND_MS = 20_000.0
"""R_max of the planner: with what it has measured, micro-batches, not what queues would take."""

CONTROLS: Mapping[str, ControlSettings] = {
    "edf, threshold": ControlSettings("edf", "threshold"),
    "edf, model-based": ControlSettings(
        "edf",
        "model-based",
        {
            "weights": {"performance": 0.6, "resources": 0.2, "reconfiguration": 0.2},
            "rate_quantum_tps": 10.0,
            "rate_levels": 10,
            "learning_rate": 0.2,
            "sweeps": 50,
            "latency_bound_ms": 2000.0,
        },
    ),
    "elastic-storm": ControlSettings("elastic-storm", options={"cooldown_invocations": 1, "scale_in": 0.3}),
    "s-edrp": ControlSettings("s-edrp"),
    "none": ControlSettings("none"),
}
"""What is compared. Periods are those of a small machine and a short run; the policies have the papers' defaults.

But the learner has minutes instead of hours: finer rates, faster learning, a table that is backed up until it has
settled, and it has practised in the simulator before. An answer in time is what is asked for, so that weighs most. It
learns at 0.2: in the first seconds of an overload all answers are still in time, and one such lesson should not undo
what was practised.
"""


def run_controlled(
    name: str, spark: SparkSession, root: Path, load: Load | None = None, period_seconds: float = PERIOD_SECONDS
) -> Controlled:
    """Runs the load under a control system until everything that came in has come out."""
    load = load or Load()
    stage, settings = load.stage(), timed(CONTROLS[name], period_seconds)
    learned = practised(load, settings) if settings.policy_name() == ModelBased.name else ()
    piece = Piece(name, settings, planning(settings), learned)
    return perform(stage, root, on_embedded(stage, root, spark), piece)


def timed(settings: ControlSettings, period_seconds: float = PERIOD_SECONDS) -> ControlSettings:
    """With the periods of a short run: a minute here is an hour there."""
    return replace(
        settings,
        period_seconds=period_seconds,
        settle_seconds=SETTLE_SECONDS,
        averaging_seconds=averaging_over(period_seconds),
        warm_up_seconds=2 * period_seconds,
    )


def planning(settings: ControlSettings) -> Planning | None:
    """The planner of those that have one."""
    if settings.kind != "s-edrp":
        return None
    warm_up(SILENT)
    bounds = Bounds(response_time_ms=RESPONSE_BOUND_MS, cost_per_hour=12.0, downtime_seconds=60.0)
    return Planning(Exact(), EdrpObjective(0.3, 0.5, 0.2, bounds), limits=Limits(settings.manager_period() / 2))
