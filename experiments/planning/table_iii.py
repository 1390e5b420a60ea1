"""Table III and Fig. 5 of EDRP: one hour under four weightings, and rEDRP beside EDRP.

python -m experiments.planning.table_iii
"""

from dataclasses import replace

from experiments.planning.hour import LIMIT_SECONDS, PINS, Hour, Setting, source_rate_tps, spent
from experiments.planning.report import (
    COLOURS,
    Stopwatch,
    markdown_table,
    new_figure,
    prose,
    save_figure,
    tell,
    write_report,
)
from rheostat.model.network.links import LinkQuality
from rheostat.planning.exact.restricted import Restricted
from rheostat.reference.ansnet import ansnet

NAME = "edrp_table_iii"
WEIGHTS = {
    "baseline": (0.5, 0.5, 0.0),
    "balanced": (0.3, 0.3, 0.4),
    "response time": (0.6, 0.0, 0.4),
    "cost": (0.0, 0.6, 0.4),
}
PAPER = {
    "baseline": (120.8, 9.6, 12.0, "many"),
    "balanced": (121.7, 9.9, 2.4, "3"),
    "response time": (121.5, 10.3, 2.4, "-"),
    "cost": (136.0, 9.2, 4.9, "-"),
}
"""Mean response time in ms, cost in $/h, downtime in s [Table III], reconfigurations where the text says."""


def main() -> None:
    """Spends all hours and writes them down."""
    watch = Stopwatch()
    exact, restricted = _hours(None), _hours(Restricted())
    sensitivity = _sensitivity()
    _draw(exact, restricted)
    wall, cpu = watch.seconds()
    lines = [
        "# EDRP Table III and Fig. 5: one hour, planned every minute",
        "",
        prose(
            "Written by `python -m experiments.planning.table_iii`; every number below was measured by it. One",
            "run of all",
            f"hours took {wall:.0f} s ({cpu:.0f} s of processor time) on a shared machine; a plan may take",
            f"{LIMIT_SECONDS:.0f} s. The paper's numbers are in brackets.",
        ),
        "",
        *_table(exact),
        "",
        f"![Response time over the hour, and its reconfigurations]({NAME}.svg)",
        "",
        "## Does the shape hold?",
        "",
        *_shape(exact),
        "",
        "## Why the numbers differ",
        "",
        *_reasons(),
        "",
        "## What changes when",
        "",
        *_events(exact),
        "",
        "## rEDRP beside EDRP",
        "",
        prose(
            "rEDRP plans one replica more, one less or one elsewhere for each operator. The paper says that its",
            "results",
            '"are very close to the optimal behavior" and shows none.',
        ),
        "",
        *_beside(exact, restricted),
        "",
        "## Sensitivity to what is assumed",
        "",
        "Where data source and globalRank are, and what a tuple per second costs, is not in the paper.",
        "",
        *_sensitive(sensitivity),
    ]
    write_report(NAME, lines)


def _hours(planner: Restricted | None) -> dict[str, Hour]:
    found = {}
    for name, weights in WEIGHTS.items():
        setting = Setting(name, weights)
        found[name] = spent(setting if planner is None else replace(setting, planner=planner))
        tell(f"{'EDRP' if planner is None else 'rEDRP'} {name}: {found[name].mean_response_time_ms:.1f} ms")
    return found


def _table(hours: dict[str, Hour]) -> list[str]:
    rows = []
    for name, hour in hours.items():
        paper = PAPER[name]
        weights = "/".join(f"{w:g}" for w in hour.setting.weights)
        rows.append(
            [
                f"{name} ({weights})",
                f"{hour.mean_response_time_ms:.1f} ({paper[0]})",
                f"{hour.mean_cost_per_hour:.2f} ({paper[1]})",
                f"{hour.downtime_seconds:.1f} ({paper[2]})",
                f"{len(hour.reconfigurations)} ({paper[3]})",
                hour.unproven,
            ]
        )
    headers = ["objective (w_r/w_c/w_d)", "mean response time ms", "mean cost $/h", "downtime s"]
    return markdown_table([*headers, "reconfigurations", "plans not proven"], rows)


def _shape(hours: dict[str, Hour]) -> list[str]:
    """What must hold of the four rows, each with its numbers."""
    base, balanced, cost = hours["baseline"], hours["balanced"], hours["cost"]
    most = max(len(hour.reconfigurations) for name, hour in hours.items() if name != "baseline")
    ratio = base.downtime_seconds / balanced.downtime_seconds
    apart = abs(balanced.mean_response_time_ms / base.mean_response_time_ms - 1)
    others = [hour for name, hour in hours.items() if name != "cost"]
    cheapest = all(cost.mean_cost_per_hour < hour.mean_cost_per_hour for hour in others)
    slowest = all(cost.mean_response_time_ms > hour.mean_response_time_ms for hour in others)
    firsts = {name: hour.first_replicated() for name, hour in hours.items()}
    first_is_rank = [name for name, first in firsts.items() if first and "partialRank" in first[1]]
    return [
        prose(
            f"- The baseline has the most reconfigurations: {_yes(len(base.reconfigurations) > most)}",
            f"({len(base.reconfigurations)}, the others at most {most}).",
        ),
        f"- Its downtime is at least twice that of balanced: {_yes(ratio >= 2)} ({ratio:.1f} times; the paper's is 5).",
        prose(
            f"- Balanced is within 3 % of its mean response time: {_yes(apart <= 0.03)}",
            f"({apart:.1%}; the paper's is 0.7 %).",
        ),
        f"- The cost weighting is cheapest and slowest: {_yes(cheapest and slowest)}.",
        prose(
            f"- partialRank is replicated first in {len(first_is_rank)} of {len(hours)} settings:",
            "; ".join(_in_words(name, *first) for name, first in firsts.items() if first),
            "(paper: 7 baseline, 8 balanced, 8 cost).",
        ),
    ]


def _in_words(name: str, minute: int, replicated: tuple[str, ...]) -> str:
    others = [operator for operator in replicated if operator != "partialRank"]
    return f"{name} at minute {minute}" + (f" together with {', '.join(others)}" if others else "")


def _reasons() -> list[str]:
    return [
        prose(
            f"- Data source and globalRank are pinned to {PINS[0]} and {PINS[1]} here. Where they are in the",
            "paper is not",
            "said, nor which fifteen nodes of ANSNET and which delays there are: a longer way between the two adds to",
            "every response time alike.",
        ),
        prose(
            "- Of deployments with equal objective the one that runs is kept, in all settings: the search starts",
            "with it",
            "and takes nothing that is not better. So our baseline changes only for a gain, while CPLEX may",
            "return any of",
            "the equals; that may be why the paper's baseline has about 15 reconfigurations (12.0 s at 0.794 s each).",
        ),
        prose(
            "- The rates between operators and the price of a tuple are not in the paper: `docs/assumptions.md`",
            "says what",
            "is taken. partialRank's input was derived from when it is replicated, so that is no evidence.",
        ),
        prose(
            "- A reconfiguration takes 0.794 s if a replica starts on a node that has not the code, as in the",
            "paper (3 are",
            "2.4 s). A pure scale-in here takes 0.25 s: nothing is started, only synchronised.",
        ),
    ]


def _events(hours: dict[str, Hour]) -> list[str]:
    lines = []
    for name, hour in hours.items():
        lines += [f"**{name}**", ""]
        rows = []
        for minute in hour.reconfigurations:
            rate = f"{source_rate_tps(minute.minute):.0f}"
            replicated = ", ".join(minute.replicated) or "none"
            rows.append([minute.minute, rate, ", ".join(minute.changed), replicated, f"{minute.downtime_seconds:.2f}"])
        lines += [*markdown_table(["minute", "tuples/s", "deployed anew", "with two replicas", "downtime s"], rows), ""]
    return lines[:-1]


def _beside(exact: dict[str, Hour], restricted: dict[str, Hour]) -> list[str]:
    rows = []
    for name, hour in exact.items():
        other = restricted[name]
        rows.append(
            [
                name,
                f"{hour.mean_response_time_ms:.1f} / {other.mean_response_time_ms:.1f}",
                f"{hour.mean_cost_per_hour:.2f} / {other.mean_cost_per_hour:.2f}",
                f"{hour.downtime_seconds:.1f} / {other.downtime_seconds:.1f}",
                f"{len(hour.reconfigurations)} / {len(other.reconfigurations)}",
                sum(minute.outcome.deployment is None for minute in other.minutes),
            ]
        )
    headers = ["EDRP / rEDRP", "response time ms", "cost $/h", "downtime s", "reconfigurations", "rEDRP without answer"]
    return markdown_table(headers, rows)


def _sensitivity() -> list[tuple[str, Hour, Hour]]:
    """Baseline and balanced under other assumptions."""
    found = []
    base = ansnet()
    for pins in (("washington", "san-francisco"), ("new-york", "chicago")):
        found.append((f"pinned to {pins[0]} and {pins[1]}", Setting("", (0, 0, 0), pins=pins)))
    for price in (0.0, 1e-3):
        dear = replace(base, default_link=LinkQuality(transfer_mbps=100.0, price=price))
        found.append((f"{price:g} $/h per tuple/s (2e-4 above)", Setting("", (0, 0, 0), infrastructure=dear)))
    told = []
    for what, setting in found:
        hours = [spent(replace(setting, name=name, weights=WEIGHTS[name])) for name in ("baseline", "balanced")]
        tell(f"sensitivity: {what}")
        told.append((what, hours[0], hours[1]))
    return told


def _sensitive(found: list[tuple[str, Hour, Hour]]) -> list[str]:
    rows = []
    for what, base, balanced in found:
        pairs = [
            f"{base.mean_response_time_ms:.1f} / {balanced.mean_response_time_ms:.1f}",
            f"{base.mean_cost_per_hour:.2f} / {balanced.mean_cost_per_hour:.2f}",
            f"{base.downtime_seconds:.1f} / {balanced.downtime_seconds:.1f}",
            f"{len(base.reconfigurations)} / {len(balanced.reconfigurations)}",
        ]
        rows.append([what, *pairs])
    headers = ["baseline / balanced", "response time ms", "cost $/h", "downtime s", "reconfigurations"]
    return markdown_table(headers, rows)


def _draw(exact: dict[str, Hour], restricted: dict[str, Hour]) -> None:
    figure = new_figure(9, 5.5)
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    for panel, (name, hour) in zip(axes.flat, exact.items(), strict=True):
        for label, one, colour in (("EDRP", hour, COLOURS[0]), ("rEDRP", restricted[name], COLOURS[1])):
            times = [m.minute for m in one.minutes]
            panel.plot(times, [m.response_time_ms for m in one.minutes], color=colour, label=label, lw=1.4)
        for minute in hour.reconfigurations:
            panel.axvline(minute.minute, color="#d5dce2", lw=1, zorder=0)
        panel.axhline(175, color="#d1495b", ls=":", lw=1)
        panel.set_title(f"{name}: {len(hour.reconfigurations)} reconfigurations", loc="left", fontsize=9)
    axes[0][0].legend(frameon=False)
    figure.supxlabel("minute")
    figure.supylabel("response time in ms (dotted: R_max)")
    save_figure(NAME, figure)


def _yes(holds: bool) -> str:
    return "yes" if holds else "**no**"


if __name__ == "__main__":
    main()
