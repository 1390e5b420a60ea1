"""How long does a twelve-hour run take in the simulated world, with control every few seconds, and in how much memory?

The goal: EDF's twelve hours with samples and a control step every 5 s, a change every five minutes, in under 5 s and
500 MB. Run it with `python -m benchmarks.simulation`; it exits with 1 if the goal is missed by the best of several
runs. Processor time counts, since one process does it all and the machine may be shared.
"""

import resource
import sys
import time
from dataclasses import replace

from experiments.control import edf

from rheostat.control.scheduling import run
from rheostat.model.reconfiguration import Reconfiguration
from rheostat.simulation.world import World

CONTROL_SECONDS, CHANGE_EVERY, RUNS = 5.0, 60, 3
GOAL_SECONDS, GOAL_MB = 5.0, 500.0


class Restless:
    """Reads everything that was measured, and adds or takes away a replica now and then."""

    name, period_seconds, offset_seconds = "restless", CONTROL_SECONDS, CONTROL_SECONDS

    def __init__(self, world: World) -> None:
        self.world, self.steps, self.samples = world, 0, 0

    def step(self, now_seconds: float) -> None:  # noqa: ARG002 - it does not look at the time
        """One control step."""
        self.steps += 1
        self.samples += len(self.world.samples())
        if self.steps % CHANGE_EVERY == 0:
            current = self.world.deployment()
            replicas = current["partialRank"]
            node = next(iter(replicas))
            wanted = replicas.plus(node, -1 if replicas[node] > 1 else 1)
            self.world.apply(Reconfiguration.between(current, current.having("partialRank", wanted)))


def main() -> int:
    """Prints one line per run and says whether the goal was met."""
    times = []
    for seed in range(RUNS):
        world = World(replace(edf.scenario(), sample_seconds=CONTROL_SECONDS), seed)
        loop = Restless(world)
        began, wall = time.process_time(), time.perf_counter()
        run([loop], world, edf.SECONDS)
        times.append(time.process_time() - began)
        changes = sum(note.kind == "done" for note in world.recorder.notes)
        sys.stdout.write(
            f"{edf.HOURS} h, {loop.steps} control steps, {loop.samples} samples, {changes} changes: "
            f"{times[-1]:.2f} s of a processor, {time.perf_counter() - wall:.2f} s on the wall\n"
        )
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    good = min(times) < GOAL_SECONDS and megabytes < GOAL_MB
    sys.stdout.write(
        f"best {min(times):.2f} s (goal {GOAL_SECONDS:g}), {megabytes:.0f} MB (goal {GOAL_MB:g}): "
        f"{'met' if good else 'MISSED'}\n"
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
