"""Random walks through deployments, as many as asked: `python -m experiments.exactness --walks 100`.

Prints a table with a row per subject: walks, changes, tuples, and how many of them were lost, duplicated, late. Exits
with 1 if any walk was not exact.
"""

import argparse
import sys

from experiments.folders import passing_folder
from experiments.subjects import NAMES
from experiments.walks import SPARK, Walked, walk
from rheostat.runtime.spark.session import create_session

COLUMNS = ("subject", "walks", "changes", "rolled back", "tuples", "lost", "duplicated", "late", "mean pause")


def main() -> int:
    """Runs the walks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", type=int, default=len(NAMES))
    parser.add_argument("--changes", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--subject", choices=NAMES, action="append")
    chosen = parser.parse_args()
    names = chosen.subject or NAMES
    spark = create_session(SPARK, 4, "exactness")
    done: list[Walked] = []
    for number in range(chosen.walks):
        with passing_folder("walk") as root:
            done.append(walk(names[number % len(names)], chosen.seed + number, spark, root, changes=chosen.changes))
        print(f"{number + 1}/{chosen.walks} {done[-1]}", file=sys.stderr, flush=True)
    spark.stop()
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for name in dict.fromkeys(one.name for one in done):
        print(_line(name, [one for one in done if one.name == name]))
    print(_line("all", done))
    return int(not all(one.is_exact for one in done))


def _line(name: str, walks: list[Walked]) -> str:
    sums = [
        sum(getattr(one, field) for one in walks)
        for field in ("changes", "rolled_back", "tuples", "lost", "duplicated", "late")
    ]
    pause = sum(one.paused_seconds for one in walks) / len(walks)
    return f"| {name} | {len(walks)} | " + " | ".join(str(number) for number in sums) + f" | {pause:.1f} s |"


if __name__ == "__main__":
    sys.exit(main())
