"""Time of a row in a channel, at 5,000 rows per second."""

from benchmarks.channel_hop import hop_times, summary
from experiments.folders import passing_folder
from pyspark.sql import SparkSession

RATE_TPS, SECONDS, GROUPS = 5000, 30, 12
MOST_MS = 500.0


def measure(spark: SparkSession, repeat: float) -> tuple[str, bool]:
    """The table, and whether the median is below the goal."""
    lines, medians = ["| hop at 5,000 rows/s | milliseconds from commit to commit |", "|---|---|"], []
    for number in range(int(repeat)):
        with passing_folder("bench") as folder:
            hops = sorted(hop_times(spark, folder, RATE_TPS, SECONDS, GROUPS))
        medians.append(hops[len(hops) // 2])
        lines.append(f"| run {number + 1} | {summary(hops)} |")
    return "\n".join(lines), sorted(medians)[len(medians) // 2] <= MOST_MS
