"""Controlled run with killed controllers and agents: exactness of its output, and completion of every decision.

`python -m experiments.spark.kills [--minutes 20] [--controllers 20] [--agents 20] [--control edf] [--seed 0] [--short]
[--control-set NAME=VALUE ...]`

Runs the command `rheostat run --nodes process --control ...` and kills it and its agents with kill -9 at random
moments. Writes `docs/results/spark_kills.md` and its picture; exits with 1 if anything was lost, repeated or left open.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import mean

from experiments.folders import passing_folder
from experiments.planning.report import (
    COLOURS,
    drawable,
    markdown_table,
    new_figure,
    prose,
    save_figure,
    tell,
    verdict,
    write_report,
)
from experiments.spark.journaled import Decided, decided
from experiments.spark.victims import CONTROLLER, Victim
from experiments.spark.workload import SERVICE_MS, Load, Phase
from rheostat.control.loop.loop_thread import TROUBLE
from rheostat.controller.recorder import read_recording
from rheostat.report.recording import Recording

NAME = "spark_kills"
LOW_TPS, HIGH_TPS = 20.0, 60.0
PHASE_SECONDS = 60.0
PERIOD_SECONDS, SETTLE_SECONDS = 4.0, 5.0
LONGEST_ABSENCE_SECONDS = 3.0
"""A controller is started again after no time up to so long."""
PATIENCE_SECONDS = 900.0
LINE_SECONDS = 10.0
LOOKED_AT_SECONDS = 30.0
ENDINGS_FORGIVEN = 5
"""A controller that ends by itself too early is started again, and told of, so often."""


@dataclass(frozen=True, slots=True)
class Death:
    """Who is to be killed, and when."""

    at_seconds: float
    who: str
    """`controller`, or a node."""


@dataclass
class Account:
    """What has happened so far."""

    killed: list[Death] = field(default_factory=list)
    back_seconds: dict[str, list[float]] = field(default_factory=lambda: {CONTROLLER: [], "agent": []})
    """Seconds until a controller or agent was there again."""
    began_seconds: float = 0.0
    """Since 1970."""
    failed: int = 0
    """Controllers that ended by themselves before the load had ended."""

    def count(self, *, controllers: bool) -> int:
        """How many were killed."""
        return sum((death.who == CONTROLLER) == controllers for death in self.killed)


@dataclass(frozen=True)
class Survived:
    """What came of it."""

    account: Account
    seconds: float
    sentences: int
    lost: int
    duplicated: int
    decisions: Decided
    troubles: int
    recording: Recording
    published_seconds: Sequence[float]
    """When something came out, since 1970."""

    def silences(self, *, controllers: bool) -> list[float]:
        """For how long nothing came out at most, around each death."""
        moments = [
            self.account.began_seconds + death.at_seconds
            for death in self.account.killed
            if (death.who == CONTROLLER) == controllers
        ]
        return [longest_silence(self.published_seconds, at) for at in moments]


def longest_silence(published_seconds: Sequence[float], at_seconds: float) -> float:
    """The longest time without anything that began in the half minute after a moment, or was just going on."""
    gaps = [(a, b) for a, b in pairwise(published_seconds) if b > at_seconds and a < at_seconds + LOOKED_AT_SECONDS]
    return max((b - a for a, b in gaps), default=0.0)


def main() -> int:
    """Runs it, kills, compares; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--controllers", type=int, default=20)
    parser.add_argument("--agents", type=int, default=20)
    parser.add_argument("--control", default="edf")
    parser.add_argument("--control-set", nargs="+", default=[], help="settings of the managers, as of rheostat run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--short", action="store_true", help="one and a half minutes, one kill of each")
    parser.add_argument("--folder", type=Path, help="where everything is kept; else it is removed in the end")
    chosen = parser.parse_args()
    if chosen.short:
        chosen.minutes, chosen.controllers, chosen.agents = 1.5, 1, 1
    load = waves(60 * chosen.minutes)
    with _folder(chosen.folder) as folder:
        options = ["--control", chosen.control, "--period", f"{PERIOD_SECONDS:g}", "--settle", f"{SETTLE_SECONDS:g}"]
        options += [part for setting in chosen.control_set for part in ("--control-set", setting)]
        victim = Victim(load.stage(), folder, tuple(options))
        nodes = [node.name for node in victim.infrastructure.nodes]
        random = Random(chosen.seed)  # noqa: S311 - repeatable
        deaths = schedule(random, load.seconds, chosen.controllers, chosen.agents, nodes)
        found = survive(victim, load, deaths, random)
    command = f"python -m experiments.spark.kills --minutes {chosen.minutes:g} --controllers {chosen.controllers}"
    command += f" --agents {chosen.agents} --control {chosen.control} --seed {chosen.seed}"
    command += f" --control-set {' '.join(chosen.control_set)}" if chosen.control_set else ""
    write_report(NAME, _page(found, load, command, " ".join(victim.arguments())))
    _draw(found)
    return int(bool(found.lost or found.duplicated or found.decisions.unfinished))


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        given.mkdir(parents=True)
        yield given.absolute()
        return
    with passing_folder("kills") as folder:
        yield folder


def waves(seconds: float) -> Load:
    """A load that goes up and down every minute."""
    count = max(2, round(seconds / PHASE_SECONDS))
    return Load(tuple(Phase(HIGH_TPS if number % 2 else LOW_TPS, seconds / count) for number in range(count)))


def schedule(random: Random, seconds: float, controllers: int, agents: int, nodes: Sequence[str]) -> list[Death]:
    """Deaths at any time of the run, in order; of agents any node's."""
    victims = [CONTROLLER] * controllers + [random.choice(nodes) for _ in range(agents)]
    return sorted((Death(random.uniform(0.0, seconds), who) for who in victims), key=lambda death: death.at_seconds)


def survive(victim: Victim, load: Load, deaths: Sequence[Death], random: Random) -> Survived:
    """Runs and kills; a process that is absent at its time is killed as soon as it is back."""
    account, waiting = Account(), list(deaths)
    try:
        victim.start()
        _until_up(victim)
        began, last = time.monotonic(), -LINE_SECONDS
        account.began_seconds = time.time()
        while True:
            seconds = time.monotonic() - began
            _kill_due(victim, waiting, seconds, account, random)
            for who, took in victim.back():
                account.back_seconds[CONTROLLER if who == CONTROLLER else "agent"].append(took)
            if (code := victim.ended()) is not None:
                if code == 0 and seconds > load.seconds and not waiting and _is_through(victim, account):
                    break
                account.failed += 1
                tell(f"  a controller ended by itself with {code} after {seconds:.0f} s: {victim.last_words()}")
                victim.start()
            if seconds > load.seconds + PATIENCE_SECONDS:
                raise TimeoutError(f"it did not end:\n{victim.log.read_text()[-3000:]}")
            if seconds - last > LINE_SECONDS:
                last = seconds
                tell(f"  {seconds:.0f} of {load.seconds:.0f} s, {len(account.killed)} killed, {len(waiting)} to go")
            time.sleep(0.2)
    finally:
        victim.end()
    entries = victim.journal()
    recording = read_recording(victim.directory, victim.stage.application)
    if recording is None:
        raise RuntimeError("nothing was recorded")
    lost, duplicated = victim.stage.differences(victim.rows())
    troubles = sum(entry.kind == TROUBLE for entry in entries)
    tell(f"lost {lost}, duplicated {duplicated}, {account.failed} controllers failed")
    came = victim.published_seconds()
    return Survived(account, seconds, load.total, lost, duplicated, decided(entries), troubles, recording, came)


def _is_through(victim: Victim, account: Account) -> bool:
    """Whether nothing is missing; one that ended too early may go on a few times, then what is missing is lost."""
    lost, _ = victim.stage.differences(victim.rows())
    return not lost or account.failed >= ENDINGS_FORGIVEN


def _until_up(victim: Victim) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while victim.pid(CONTROLLER) is None:
        if victim.ended() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"it did not start:\n{victim.log.read_text()[-3000:]}")
        time.sleep(0.2)


def _kill_due(victim: Victim, waiting: list[Death], seconds: float, account: Account, random: Random) -> None:
    due = [death for death in waiting if death.at_seconds <= seconds]
    for death in due:
        who = death.who
        if who != CONTROLLER and not victim.has_node(who) and (others := victim.agents()):
            who = random.choice(others)  # it was released, and will not come back
        if not victim.kill(who):
            continue
        waiting.remove(death)
        account.killed.append(Death(seconds, who))
        tell(f"  {seconds:.0f} s: {who} killed")
        if who == CONTROLLER:
            time.sleep(random.uniform(0.0, LONGEST_ABSENCE_SECONDS))
            victim.start()


def _page(found: Survived, load: Load, command: str, run: str) -> list[str]:
    account, decisions = found.account, found.decisions
    absent = account.back_seconds
    rows = [
        [
            who,
            account.count(controllers=who == CONTROLLER),
            *_mean_and_longest(absent[who]),
            *_mean_and_longest(found.silences(controllers=who == CONTROLLER)),
        ]
        for who in (CONTROLLER, "agent")
    ]
    columns = ("killed", "times", "back after s, mean", "longest", "nothing came out for s, mean", "longest")
    done = decisions.outcomes
    return [
        "# Controllers and agents killed during a controlled run on Spark",
        "",
        f"`{command}`",
        "",
        prose(
            f"`rheostat {run}`, Word Count on three node processes; a sentence costs a replica of `split`",
            f"{SERVICE_MS:g} ms. {LOW_TPS:g} and {HIGH_TPS:g} sentences a second take turns every",
            f"{load.phases[0].seconds:g} s for {load.seconds:g} s. Controller and agents are killed with kill -9 at",
            f"random moments; a controller is started again 0 to {LONGEST_ABSENCE_SECONDS:g} s later, an agent by the",
            "controller. There is no such experiment in the papers, and nothing is scaled (s = 1).",
        ),
        "",
        *markdown_table(columns, rows),
        "",
        *markdown_table(
            ("sentences", "seconds", "words lost", "repeated", "decisions", "to change", *done, "open", "troubles"),
            [
                [
                    found.sentences,
                    f"{found.seconds:.0f}",
                    found.lost,
                    found.duplicated,
                    decisions.made,
                    decisions.wanted,
                    *done.values(),
                    decisions.unfinished,
                    found.troubles,
                ]
            ],
        ),
        "",
        verdict("The output is exact", not (found.lost or found.duplicated), _numbers(found)),
        verdict("Every decision was done, undone or refused", not decisions.unfinished, f"{decisions.unfinished} open"),
        verdict(
            "No controller that was started ended by itself", not account.failed, f"{account.failed} controllers did so"
        ),
        "",
        prose(
            "A controller is back when it can be asked, an agent when it has told where it is, before its Spark is up.",
            "How long nothing came out is the longest time without any result that began in the half minute after a",
            "death, whatever else happened then.",
            "Words are counted again without Spark. A decision to change something needs an effect in the journal",
            "before the next decision; if the controller died in between, its successor writes down what became of",
            "it. Troubles are steps of managers that failed, by a node that was just killed, say: the next step",
            "looks again.",
        ),
        "",
        f"![Replicas and response time, with the deaths]({NAME}.svg)",
    ]


def _mean_and_longest(seconds: Sequence[float]) -> list[str | None]:
    return [f"{mean(seconds):.1f}", f"{max(seconds):.1f}"] if seconds else [None, None]


def _numbers(found: Survived) -> str:
    return f"{found.lost} words lost, {found.duplicated} repeated"


def _draw(found: Survived) -> None:
    figure = new_figure(9, 5)
    replicas, responses = figure.subplots(2, 1, sharex=True)
    at = found.recording.seconds
    replicas.step(at, drawable(found.recording.replicas["split"]), where="post", color=COLOURS[0])
    known = [(x, y) for x, y in zip(at, found.recording.column("response_mean_ms"), strict=True) if y is not None]
    responses.plot([x for x, _ in known], [y / 1000 for _, y in known], color=COLOURS[0])
    for axes in (replicas, responses):
        for death in found.account.killed:
            axes.axvline(death.at_seconds, color=COLOURS[3 if death.who == CONTROLLER else 1], linewidth=0.6, alpha=0.7)
    replicas.set_ylabel("replicas of split")
    responses.set_ylabel("response time, s")
    responses.set_xlabel("seconds; red: the controller is killed, orange: an agent")
    save_figure(NAME, figure)


if __name__ == "__main__":
    sys.exit(main())
