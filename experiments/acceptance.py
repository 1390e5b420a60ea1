"""The long proofs, one after the other or by name: `scripts/acceptance [NAME ...] [--list] [--json]`.

Prints the name, the purpose and the usual duration of each proof before it starts, and a table with the measured
durations at the end. Exits with 1 if any proof failed.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from experiments.folders import passing_folder

ROOT = Path(__file__).parents[1]
COPIED = ("benchmarks", "examples", "experiments")


@dataclass(frozen=True, slots=True)
class Proof:
    """One command whose exit code says whether something holds."""

    what: str
    minutes: float
    """How long it takes on two cores."""
    arguments: str
    """Of Python."""

    @property
    def is_test(self) -> bool:
        """Whether pytest runs it, in this folder; commands write results, so they run in a copy."""
        return self.arguments.startswith("-m pytest")


@dataclass(frozen=True, slots=True)
class Proven:
    """The outcome of a proof."""

    name: str
    passed: bool
    seconds: float
    usual_minutes: float


PROOFS: Mapping[str, Proof] = {
    "walks": Proof(
        "100 random walks through deployments lose and repeat nothing", 35, "-m experiments.exactness --walks 100"
    ),
    "faults": Proof(
        "60 times kill -9 of controllers and agents, at every step of a change", 18, "-m experiments.faults --seed 7"
    ),
    "kills": Proof("20 controllers and 20 agents killed during a controlled run", 23, "-m experiments.spark.kills"),
    "agents": Proof(
        "an agent killed or its Spark frozen under rheostat run: others take over until it is warm again",
        6,
        "-m pytest -v -m acceptance tests/cli/test_run_on_spark.py",
    ),
    "loops": Proof(
        "replicas follow a tripled load under three more controls",
        6,
        "-m pytest -v -m acceptance tests/controller/test_closed_loop.py",
    ),
    "cluster": Proof(
        "two nodes share a standalone cluster, change and lose nothing",
        3,
        "-m pytest -v -m acceptance tests/runtime/nodes/test_standalone_cluster.py",
    ),
    "experiments": Proof(
        "the experiments on Spark in their short forms, each to its end",
        25,
        "-m pytest -v -m acceptance tests/experiments/test_smoke.py",
    ),
    "installs": Proof(
        "the wheel in a new environment: README as printed, and a new project that runs",
        8,
        "-m pytest -v -m acceptance tests/install/test_new_environment.py tests/install/test_first_screen.py",
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the chosen proofs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="proofs to run; all of them if none is named")
    parser.add_argument("--list", action="store_true", help="print names and durations, run nothing")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON on standard output")
    chosen = parser.parse_args(arguments)
    if unknown := sorted(set(chosen.names) - set(PROOFS)):
        parser.error(f"no proof is named {', '.join(unknown)}; choose from {', '.join(PROOFS)}")
    proofs = {name: PROOFS[name] for name in chosen.names or PROOFS}
    if chosen.list:
        print(listed(proofs))
        return 0
    found = proven(proofs)
    print(json.dumps(summary(found), indent=2) if chosen.json else table(found))
    return int(not all(one.passed for one in found))


def proven(proofs: Mapping[str, Proof]) -> list[Proven]:
    """Runs proofs one after the other, also after one has failed; their output goes to standard error."""
    found = []
    with passing_folder("acceptance") as folder:
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for number, (name, proof) in enumerate(proofs.items(), 1):
            _tell(f"-- {number}/{len(proofs)} {name}: {proof.what} (about {proof.minutes:g} min)")
            began = time.monotonic()
            command = [sys.executable, *proof.arguments.split()]
            done = subprocess.run(command, cwd=ROOT if proof.is_test else folder, stdout=sys.stderr, check=False)
            found.append(Proven(name, done.returncode == 0, round(time.monotonic() - began, 1), proof.minutes))
            _tell(f"-- {name} {'passed' if done.returncode == 0 else 'FAILED'} after {found[-1].seconds / 60:.1f} min")
    return found


def listed(proofs: Mapping[str, Proof]) -> str:
    """Names, durations and purposes."""
    lines = [f"{name:12} {proof.minutes:4g} min  {proof.what}" for name, proof in proofs.items()]
    return "\n".join([*lines, f"{'all':12} {sum(proof.minutes for proof in proofs.values()):4g} min"])


def table(found: Sequence[Proven]) -> str:
    """A line per proof: whether it passed, how long it took, how long it usually takes."""
    lines = []
    for one in found:
        outcome = "passed" if one.passed else "FAILED"
        lines.append(f"{one.name:12} {outcome}  {one.seconds / 60:5.1f} min (usually {one.usual_minutes:g})")
    return "\n".join(lines)


def summary(found: Sequence[Proven]) -> dict[str, object]:
    """The same as a document."""
    return {"passed": all(one.passed for one in found), "proofs": [asdict(one) for one in found]}


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
