"""The fifteen rows of EDF's Table 1: which policy, with which settings, with the token bucket or without."""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from experiments.control import edf
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.report.recording import Recording
from rheostat.report.run_summary import EDF, Summary, summarise
from rheostat.simulation.load.workload import Workload
from rheostat.simulation.studies.simulated_run import simulate

SETTLE_SECONDS = 60.0
"""EDF 8.3: after a reconfiguration the local loops are suspended "for a short period". Assumed: two of their own."""
RATE_LEVELS = 12
"""L: up to 600 tuples/s. Not in the paper; the rates end at 500."""
EVEN = {"reconfiguration": 0.2, "performance": 0.4, "resources": 0.4}
"""w_perf = w_res = 2 w_rcf."""
STEADY = {"reconfiguration": 0.4, "performance": 0.4, "resources": 0.2}
"""w_perf = w_rcf = 2 w_res."""


@dataclass(frozen=True)
class Row:
    """A row, and what the paper has in it."""

    policy: str
    setting: str
    """As the paper writes it."""
    options: dict[str, Any]
    bucket: bool
    paper: tuple[float, float, float, float, float, float]
    """Mean, P50, P95 in ms, replicas, downtime in %, violations in %."""

    @property
    def name(self) -> str:
        """How it is called."""
        return f"{self.policy} {self.setting}{' + token bucket' if self.bucket else ''}"

    @property
    def settings(self) -> ControlSettings:
        """Who decides."""
        kinds = {"TH": "threshold", "QL": "q-learning", "MB": "model-based"}
        return ControlSettings(
            "edf",
            kinds[self.policy],
            self.options,
            granting="token-bucket" if self.bucket else "all",
            period_seconds=edf.PERIOD_SECONDS,
            settle_seconds=SETTLE_SECONDS,
            latency_bounds_ms=edf.BOUNDS_MS,
        )


def _thresholds() -> list[Row]:
    papers = {
        (0.7, False): (363.0, 320.6, 686.8, 8.69, 1.25, 82.17),
        (0.6, False): (324.6, 300.0, 507.7, 8.75, 0.97, 77.76),
        (0.5, False): (295.0, 279.7, 457.9, 8.87, 1.48, 69.25),
        (0.4, False): (230.0, 229.9, 334.0, 9.61, 3.38, 35.68),
        (0.4, True): (211.4, 209.8, 302.3, 9.50, 1.23, 25.19),
        (0.3, False): (161.6, 152.3, 274.6, 12.40, 6.12, 7.48),
        (0.3, True): (164.1, 158.3, 239.4, 10.51, 3.18, 3.62),
    }
    return [Row("TH", f"U = {level}", {"scale_out": level}, bucket, paper) for (level, bucket), paper in papers.items()]


def _learners() -> list[Row]:
    even, steady = "perf = res = 2 rcf", "perf = rcf = 2 res"
    papers = {
        ("QL", even, False): (474.9, 145.9, 691.7, 13.78, 10.96, 17.99),
        ("QL", even, True): (144.0, 137.8, 216.9, 11.46, 1.56, 1.31),
        ("QL", steady, False): (492.5, 138.5, 789.8, 13.89, 10.84, 14.97),
        ("QL", steady, True): (138.1, 133.4, 205.0, 12.21, 1.16, 0.81),
        ("MB", even, False): (176.4, 154.7, 271.9, 10.13, 3.20, 6.92),
        ("MB", even, True): (168.4, 161.9, 240.4, 9.87, 1.40, 3.06),
        ("MB", steady, False): (94.0, 89.3, 138.9, 12.00, 0.00, 0.01),
        ("MB", steady, True): (93.8, 89.3, 137.8, 12.00, 0.00, 0.00),
    }
    weights = {even: EVEN, steady: STEADY}
    return [
        Row(policy, setting, {"weights": weights[setting], "rate_levels": RATE_LEVELS}, bucket, paper)
        for (policy, setting, bucket), paper in papers.items()
    ]


ROWS = (*_thresholds(), *_learners())


@dataclass(frozen=True)
class Outcome:
    """What came of a row."""

    row: Row
    summary: Summary
    recording: Recording
    requests: int
    granted: int


def outcome(row: Row, workload: Workload | None = None, seed: int = 0) -> Outcome:
    """Runs one row: twelve hours."""
    run = simulate(edf.scenario(workload, seed), row.settings, edf.SECONDS, seed=seed, objective_ms=edf.OBJECTIVE_MS)
    return Outcome(row, summarise(run.recording, EDF), run.recording, run.requests, run.granted)


def outcomes(
    rows: Sequence[Row] = ROWS, workload: Workload | None = None, seed: int = 0, processes: int = 2
) -> list[Outcome]:
    """Runs some rows on as many processors."""
    if processes == 1:
        return [outcome(row, workload, seed) for row in rows]
    # Fresh processes: a fork would inherit whatever threads there are.
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        return list(pool.map(outcome, rows, [workload] * len(rows), [seed] * len(rows)))
