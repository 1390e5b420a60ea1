"""EDF's claims about its own Table 1: the finding for each, and the claims that hold under every seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from experiments.control import edf
from experiments.control.rows import ROWS, Outcome
from experiments.planning.report import markdown_table, prose
from rheostat.report.run_summary import summarise
from rheostat.simulation.studies.simulated_run import simulate

CUT_CLAIMED = 0.4
"""Of the downtime, by the token bucket."""
EVEN, STEADY = "perf = res = 2 rcf", "perf = rcf = 2 res"


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper, and whether it is so here."""

    says: str
    holds: bool
    found: str


def claims(outcomes: Sequence[Outcome]) -> list[Claim]:
    """The paper's claims, in the order in which it makes them."""
    by_name = {each.row.name: each for each in outcomes}
    return [*_thresholds(by_name), *_token_bucket(by_name), *_q_learning(by_name), *_model_based(by_name)]


def _violations(outcome: Outcome) -> float:
    return 100 * (outcome.summary.violations or 0.0)


def _thresholds(by_name: Mapping[str, Outcome]) -> list[Claim]:
    levels = [by_name[f"TH U = {level}"] for level in (0.7, 0.6, 0.5, 0.4, 0.3)]
    falling, rising = [_violations(each) for each in levels], [each.summary.replicas for each in levels]
    return [
        Claim(
            "From U = .7 to .3 violations fall",
            falling == sorted(falling, reverse=True),
            ", ".join(f"{value:.1f}" for value in falling) + " %",
        ),
        Claim(
            "From U = .7 to .3 replicas rise", rising == sorted(rising), ", ".join(f"{value:.2f}" for value in rising)
        ),
    ]


def _token_bucket(by_name: Mapping[str, Outcome]) -> list[Claim]:
    plain, bucket = (by_name[f"TH U = 0.3{more}"].summary for more in ("", " + token bucket"))
    cut = 1 - bucket.downtime / plain.downtime if plain.downtime else 0.0
    return [
        Claim(
            "The token bucket at .3 cuts the downtime by at least 40 % with fewer replicas",
            cut >= CUT_CLAIMED and bucket.replicas < plain.replicas,
            f"by {100 * cut:.0f} %, {plain.replicas - bucket.replicas:.1f} fewer",
        )
    ]


def _q_learning(by_name: Mapping[str, Outcome]) -> list[Claim]:
    worst = max(by_name, key=lambda name: by_name[name].summary.downtime)
    bucket = [_violations(by_name[f"QL {weights} + token bucket"]) for weights in (EVEN, STEADY)]
    return [
        Claim(
            "Q-learning without token bucket has the worst downtime of all",
            worst.startswith("QL") and "bucket" not in worst,
            f"{worst}, {100 * by_name[worst].summary.downtime:.1f} %",
        ),
        Claim(
            "Q-learning with the token bucket has violations under 3 %",
            max(bucket) < 3,
            " and ".join(f"{value:.1f} %" for value in bucket),
        ),
    ]


def _model_based(by_name: Mapping[str, Outcome]) -> list[Claim]:
    best, steady = by_name[f"MB {EVEN} + token bucket"].summary, by_name[f"MB {STEADY}"]
    p95 = {name: each.summary.p95_ms for name, each in by_name.items()}
    good = {
        name: each.summary.replicas
        for name, each in by_name.items()
        if name.startswith("TH") and (p95[name] or edf.OBJECTIVE_MS) < edf.OBJECTIVE_MS
    }
    late = sum(note.kind == "done" and note.at_seconds > edf.SECONDS / 4 for note in steady.recording.notes)
    kept = best.p95_ms is not None and best.p95_ms < edf.OBJECTIVE_MS
    beside = ", ".join(f"{name} {replicas:.2f}" for name, replicas in good.items()) or "no threshold row does"
    return [
        Claim(
            "Model-based with perf = res and the token bucket keeps P95 under R_max with fewer replicas than any "
            "threshold row that does",
            kept and all(best.replicas < replicas for replicas in good.values()),
            f"P95 {best.p95_ms or float('nan'):.0f} ms with {best.replicas:.2f}; {beside}",
        ),
        Claim(
            "Model-based with perf = rcf hardly changes anything after its start and does not violate",
            late <= 5 and _violations(steady) < 2,
            f"{late} of {steady.summary.reconfigurations} changes after the first quarter, "
            f"{_violations(steady):.2f} % violations",
        ),
    ]


def cut_by_the_bucket(measurement_noise: float, seed: int) -> float:
    """Share of the downtime at U = .3 that the token bucket saves, if figures scatter by so much."""
    scenario = edf.scenario(seed=seed)
    scattered = replace(scenario, noise=replace(scenario.noise, measurement=measurement_noise))
    rows = {row.name: row for row in ROWS}
    plain, bucket = (
        summarise(simulate(scattered, rows[name].settings, edf.SECONDS, seed=seed).recording).downtime
        for name in ("TH U = 0.3", "TH U = 0.3 + token bucket")
    )
    return 1 - bucket / plain if plain else 0.0


def robustness(by_seed: Mapping[int, Sequence[Claim]]) -> list[str]:
    """Claims under several seeds as a table, and in words what holds under all and what does not."""
    seeds = list(by_seed)
    together = list(zip(*by_seed.values(), strict=True))
    rows = [
        [found[0].says, *(f"{'yes' if each.holds else '**no**'}: {each.found}" for each in found)] for found in together
    ]
    always = sum(all(each.holds for each in found) for found in together)
    broken = [found[0].says for found in together if not all(each.holds for each in found)]
    words = "; ".join(f"*{says}*" for says in broken)
    return [
        *markdown_table(["claim", *(f"seed {seed}" for seed in seeds)], rows),
        "",
        prose(
            f"{always} of {len(together)} claims hold under all {len(seeds)} seeds."
            + (f" Not under every one: {words}." if broken else ""),
            "A seed changes the city's days, the noise of rates and measurements, and what is left to chance in the",
            "policies.",
        ),
    ]
