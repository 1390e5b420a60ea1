"""Every experiment and every benchmark starts and runs, a few seconds each."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("benchmarks", "examples", "experiments")
PARTS_OF_OTHERS = {"experiments.fault_controller"}
"""Are started by a command, not typed: this one by `experiments.faults`."""
SECONDS, SPARK_SECONDS = 4.0, 8.0
"""How long a command is let run; on Spark it takes most of that time until the first row is there."""
ENDING_SECONDS = 20.0
"""What a command on Spark has time for to remove its files."""
LONGEST_SECONDS = 600.0
"""For a short form, to its end."""
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}
PURE = {
    "benchmarks.control_step": "",
    "benchmarks.evaluation": "",
    "benchmarks.planning": "--quick",
    "benchmarks.simulation": "",
    "examples.learned_policy.train": "",
    "experiments.acceptance": "--list",
    "experiments.control.e2df_figure_2": "",
    "experiments.control.edf_table_1": "",
    "experiments.control.elastic_storm_figures": "",
    "experiments.control.policies_compared": "",
    "experiments.control.s_edrp_table_iii": "",
    "experiments.planning.figure_10": "",
    "experiments.planning.figure_9": "",
    "experiments.planning.formulations": "",
    "experiments.planning.heuristics": "",
    "experiments.planning.table_iii": "",
    "experiments.planning.table_iv": "",
    "experiments.planning.user_metrics": "",
}
ON_SPARK = {
    "benchmarks.channel_hop": "1000 5",
    "benchmarks.control_overhead": "--short",
    "benchmarks.pipeline": "--parts words --repeat 1",
    "benchmarks.reconfiguration": "--keys 1000 --repeat 1",
    "examples.taxi_routes.demo": "",
    "experiments.exactness": "--walks 1",
    "experiments.faults": "--random-kills 2 --scene 2",
    "experiments.spark.e2df_nodes": "--short",
    "experiments.spark.edf": "--short",
    "experiments.spark.edrp_table_v": "--short",
    "experiments.spark.elastic_storm": "--short",
    "experiments.spark.kills": "--short",
    "experiments.spark.odp_quality": "--short",
    "experiments.spark.tripling": "--controls none --calm-seconds 10 --phase-seconds 10",
    "experiments.spark.validation": "--short",
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The commands in a folder of their own: they write their results beside themselves."""
    folder = tmp_path_factory.mktemp("smoke")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def is_fine(
    folder: Path, module: str, arguments: str, seconds: float, ending_seconds: float = 0.0, *, must_end: bool = False
) -> None:
    """Starts a command, lets it run for so long or to its end, and ends it; refuses a traceback."""
    log = folder / f"{module}.log"
    command = [sys.executable, "-m", module, *arguments.split()]
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, env=os.environ | UNBUFFERED)
    family: set[psutil.Process] = set()
    try:
        deadline = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < deadline:
            family.update(psutil.Process(process.pid).children(recursive=True))
            time.sleep(0.1)
        told = log.read_text()
        # 1 is the answer of a benchmark whose goal was missed: no wonder while tests run beside it.
        assert process.returncode in (0, 1) or (process.returncode is None and not must_end), told
        assert "Traceback (most recent call last)" not in told, told
    finally:
        end(process, family, ending_seconds)


def end(process: subprocess.Popen, family: set[psutil.Process], patience_seconds: float) -> None:
    """Interrupts a command, and kills what is left of it and of what it has started."""
    if process.poll() is None:
        family.update(psutil.Process(process.pid).children(recursive=True))
        process.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(patience_seconds)
    for one in {process, *family}:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    process.wait()


def test_every_command_is_started():
    found = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for name in FOLDERS
        for path in (ROOT / name).rglob("*.py")
        if '__name__ == "__main__"' in path.read_text()
    }
    assert found == set(PURE) | set(ON_SPARK) | PARTS_OF_OTHERS


@pytest.mark.parametrize("module", PURE)
def test_it_runs(copied, module):
    is_fine(copied, module, PURE[module], SECONDS)


@pytest.mark.spark
@pytest.mark.parametrize("module", ON_SPARK)
def test_it_runs_on_spark(copied, module):
    is_fine(copied, module, ON_SPARK[module], SPARK_SECONDS, ENDING_SECONDS)


@pytest.mark.spark
@pytest.mark.acceptance
@pytest.mark.timeout(LONGEST_SECONDS)
@pytest.mark.parametrize("module", [module for module, arguments in ON_SPARK.items() if "--short" in arguments])
def test_its_short_form_runs_to_its_end(copied, module):
    is_fine(copied, module, ON_SPARK[module], LONGEST_SECONDS - ENDING_SECONDS, must_end=True)
