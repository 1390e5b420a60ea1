"""Word Count on three nodes for a while: memory and the number of files must not grow with time."""

import statistics
import sys
import time

from examples.word_count.app import application
from experiments.folders import passing_folder
from pyspark.sql import SparkSession

from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.nodes.node_usage import measured_usage
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.reconfigure.embedded_nodes import embedded

TPS = 200
EVERY_SECONDS = 10.0
SPREAD = {
    "datasource": {"n1": 1},
    "split": {"n2": 2},
    "counter": {"n2": 1, "n3": 1},
    "consumer": {"n1": 1},
}
MOST_GROWTH = 1.15
MOST_GB = 3.0


def measure(spark: SparkSession, seconds: float) -> tuple[str, bool]:
    """The table, and whether nothing grows and three nodes fit in 3 GB."""
    samples: list[tuple[float, float, int, int]] = []
    nodes = Infrastructure("three", tuple(Node(name, 8) for name in ("n1", "n2", "n3")))
    began = time.monotonic()
    with (
        passing_folder("bench") as folder,
        embedded(application(str(TPS)).build(), nodes, folder, spark, RuntimeSettings()) as runtime,
    ):
        runtime.launch(Deployment.of(SPREAD))
        while time.monotonic() - began < seconds:
            time.sleep(EVERY_SECONDS)
            runtime.heal()
            files = [path for path in folder.rglob("*") if path.is_file()]
            kept = sum("results" in path.parts for path in files)
            samples.append((time.monotonic() - began, measured_usage().memory_bytes, len(files) - kept, kept))
            print(f"soak {samples[-1][0]:.0f} of {seconds:g} s", file=sys.stderr, flush=True)
    third = max(1, len(samples) // 3)
    lines = [
        "| third of the run | resident GB, median | files of channels and checkpoints, median | of the results |",
        "|---|---|---|---|",
    ]
    parts = [samples[number * third : (number + 1) * third] for number in range(3)]
    for name, part in zip(("first", "second", "last"), parts, strict=True):
        memory, files, kept = (statistics.median(one[column] for one in part) for column in (1, 2, 3))
        lines.append(f"| {name} | {memory / 1e9:.2f} | {files:.0f} | {kept:.0f} |")
    peak = max(memory for _, memory, _, _ in samples) / 1e9
    lines.append(
        f"\nPeak {peak:.2f} GB resident for everything: driver, Spark, {len(SPREAD)} operators' Python processes."
    )
    second, last = parts[1], parts[2]
    grown = [
        statistics.median(one[column] for one in last) / statistics.median(one[column] for one in second)
        for column in (1, 2)
    ]
    return "\n".join(lines), all(ratio <= MOST_GROWTH for ratio in grown) and peak <= MOST_GB
