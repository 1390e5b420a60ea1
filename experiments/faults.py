"""Kills agents and controllers with kill -9 while an application is changed under load, and compares its output.

`python -m experiments.faults` kills 60 times: controllers and agents at every step of the migration table (before,
during and after it), and both at random times. Prints a table; exits with 1 if anything was lost or repeated.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from experiments.crashes import STEPS
from experiments.fault_controller import SAME
from experiments.folders import passing_folder
from experiments.subjects import subject
from experiments.walks import random_deployment
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.nodes.node_processes import NodeProcesses, node_processes

NODES = ("n1", "n2")
RATE_TPS = 40.0
SECONDS_PER_KILL = {"controller": 5.0, "agent": 12.0, "random": 9.0}
"""About as long as one takes: rows shall arrive while it happens."""
LONGEST_WAIT_SECONDS = 300.0
DYING_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Death:
    """Who is killed, and when."""

    who: str
    """controller or agent."""
    event: str = ""
    """Step of the table; empty: at any time."""
    moment: str = ""

    def __str__(self) -> str:
        return f"{self.who} {self.moment} {self.event}" if self.event else f"{self.who} at random"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one application and its deaths."""

    name: str
    deaths: tuple[Death, ...]
    tuples: int
    lost: int
    duplicated: int
    seconds: float

    @property
    def is_exact(self) -> bool:
        """Nothing missing, nothing too much."""
        return self.lost == self.duplicated == 0


class Controller:
    """A controller process of ours."""

    def __init__(self, begin: dict[str, Any], log: Path) -> None:
        self._log = log
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "experiments.fault_controller"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._tell(begin)
        if self.answer() is None:
            self.kill()
            raise RuntimeError(f"the controller could not take over:\n{self.told()}")

    def told(self) -> str:
        """Its last words."""
        return self._log.read_text()[-3000:]

    def order(self, document: dict[str, Any]) -> dict[str, Any] | None:
        """Its answer; None if it died of it."""
        self._tell(document)
        return self.answer()

    def answer(self) -> dict[str, Any] | None:
        """The next answer, None if it is dead."""
        line = self._process.stdout.readline() if self._process.stdout else ""
        return json.loads(line) if line else None

    def tell(self, document: dict[str, Any]) -> None:
        """Gives an order without waiting for its answer."""
        self._tell(document)

    def kill(self) -> None:
        """kill -9; gives up its pipes."""
        self._process.kill()
        self._process.communicate()

    def _tell(self, document: dict[str, Any]) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(json.dumps(document) + "\n")
            self._process.stdin.flush()


@dataclass
class Scene:
    """An application on its agents, with the controller it has at the moment."""

    described: tuple[str, int, float, float]
    root: Path
    processes: NodeProcesses
    random: Random
    controller: Controller | None = None
    deaths: list[Death] = field(default_factory=list)

    def kill(self, death: Death) -> None:
        """One death in a change, and the takeover by a new process."""
        if not death.event:
            self._kill_at_random(death)
        elif death.who == "controller":
            with self._change(death, None) as controller:
                if (answer := self._elsewhere(controller)) is not None:
                    raise RuntimeError(f"the controller survived {death}: {answer}")
        else:
            node = self.random.choice(NODES)
            with self._change(death, self.processes.pid(node)) as controller:
                answer = self._elsewhere(controller)
                if not self._is_any_dead():
                    raise RuntimeError(f"the agent survived {death}: {answer}")
                self._revive(controller)
        self.deaths.append(death)

    def end(self) -> dict[str, Any]:
        """Lets the application finish; gives what its output lacks or has too much of."""
        controller = self._taken_over(None)
        answer = controller.order({"finish": True})
        controller.kill()
        if answer is None or "lost" not in answer:
            raise RuntimeError(f"the application did not finish: {answer or controller.told()}")
        return answer

    @contextmanager
    def _change(self, death: Death, pid: int | None) -> Iterator[Controller]:
        delay = self.random.uniform(0.0, 0.6)
        controller = self._taken_over({"event": death.event, "moment": death.moment, "pid": pid, "delay": delay})
        try:
            yield controller
        finally:
            controller.kill()

    def _kill_at_random(self, death: Death) -> None:
        controller = self._taken_over(None)
        controller.tell({"deploy": self._anywhere()})
        time.sleep(self.random.uniform(0.0, 3.0))
        if death.who == "controller":
            controller.kill()
            return
        self.processes.kill(self.random.choice(NODES))
        controller.answer()
        self._revive(controller)
        controller.kill()

    def _revive(self, controller: Controller) -> None:
        """Every other time the node is given up first, so that the other one stands in for it until it is back."""
        for name in self.processes.dead():
            if self.random.random() < 0.5:
                controller.order({"lose": name})
        for node in self.processes.revive():
            controller.order({"use": [node.name, *self.processes.address(node.name)]})

    def _taken_over(self, death: dict[str, Any] | None) -> Controller:
        begin = {
            "subject": self.described,
            "root": str(self.root),
            "agents": {name: self.processes.address(name) for name in NODES},
            "deployment": self._anywhere(),
            "death": death,
        }
        return Controller(begin, self.root / "controllers.log")

    def _is_any_dead(self) -> bool:
        """A process that is killed is gone a moment later; a controller in its last step may answer before that."""
        deadline = time.monotonic() + DYING_SECONDS
        while not self.processes.dead() and time.monotonic() < deadline:
            time.sleep(0.05)
        return bool(self.processes.dead())

    def _elsewhere(self, controller: Controller) -> dict[str, Any] | None:
        """Has the deployment changed; by chance the one that is drawn may be the one there is."""
        while (answer := controller.order({"deploy": self._anywhere()})) == {"effect": SAME}:
            pass
        return answer

    def _anywhere(self) -> dict[str, dict[str, int]]:
        wanted: Deployment = random_deployment(subject(*self.described).application, self.random, NODES)
        return {name: dict(replicas.counts) for name, replicas in wanted.items()}


def suffer(name: str, deaths: Sequence[Death], seed: int, root: Path) -> Outcome:
    """Runs a subject through all the deaths."""
    began = time.monotonic()
    seconds = sum(SECONDS_PER_KILL[death.who if death.event else "random"] for death in deaths)
    two = Infrastructure("faults", tuple(Node(node, 64) for node in NODES))
    root.mkdir(parents=True, exist_ok=True)
    with node_processes(two, root) as (processes, _):
        scene = Scene((name, seed, RATE_TPS, seconds), root, processes, Random(seed))  # noqa: S311 - repeatable
        for number, death in enumerate(deaths, 1):
            scene.kill(death)
            print(f"  {name} {number}/{len(deaths)}: {death}, {time.monotonic() - began:.0f} s", file=sys.stderr)
        found = scene.end()
    return Outcome(name, tuple(deaths), found["tuples"], found["lost"], found["duplicated"], time.monotonic() - began)


def every_step(who: str) -> list[Death]:
    """All steps of the table, all moments of each."""
    return [Death(who, event.value, moment) for event, moment in STEPS]


def main() -> int:
    """Runs the four scenes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random-kills", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scene", type=int, nargs="+", choices=range(4), default=list(range(4)))
    chosen = parser.parse_args()
    random = Random(chosen.seed)  # noqa: S311 - repeatable
    random_deaths = [Death(random.choice(("controller", "agent"))) for _ in range(chosen.random_kills)]
    half = len(random_deaths) // 2
    scenes = [
        ("window", every_step("controller")),
        ("count", every_step("agent")),
        ("join", random_deaths[:half]),
        ("word-count", random_deaths[half:]),
    ]
    outcomes = []
    print("| subject | controllers killed | agents killed | tuples | lost | duplicated | seconds |\n|" + "---|" * 7)
    for number in chosen.scene:
        name, deaths = scenes[number]
        with passing_folder("faults") as folder:
            one = suffer(name, deaths, chosen.seed + number, folder / "app")
        outcomes.append(one)
        killed = [sum(death.who == who for death in one.deaths) for who in ("controller", "agent")]
        print(
            f"| {one.name} | {killed[0]} | {killed[1]} | {one.tuples} | {one.lost} | {one.duplicated} "
            f"| {one.seconds:.0f} |",
            flush=True,
        )
    return int(not all(one.is_exact for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
