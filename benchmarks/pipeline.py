"""Overhead of the runtime: applications under Rheostat beside the same ones written by hand, in one run.

`python -m benchmarks.pipeline [--parts words taxi hop soak] [--repeat 3] [--soak-seconds 600] [--write FILE]`

- words: Word Count as one query by hand, and fused by Rheostat. Throughput at saturation, median response time.
- taxi: taxi routes as queries joined by Spark's file sink and source, and as Rheostat runs them on one node.
- hop: from the commit of the batch that wrote a row to the commit of the one that read it, at 5,000 rows per second.
- soak: Word Count on three nodes; do memory and the number of files stay where they are?
"""

import argparse
import sys
from pathlib import Path

from benchmarks.pipeline_parts import hop, soak, taxi, words

from rheostat.runtime.spark.session import create_session
from rheostat.runtime.spark.spark_settings import SparkSettings

PARTS = {"words": words.measure, "taxi": taxi.measure, "hop": hop.measure, "soak": soak.measure}
THREADS = 6


def main() -> int:
    """Measures what is asked for and prints a table each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--soak-seconds", type=float, default=600.0)
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    spark = create_session(SparkSettings(), THREADS, "pipeline")
    texts, met = [], True
    for name in chosen.parts:
        amount = chosen.soak_seconds if name == "soak" else chosen.repeat
        table, fine = PARTS[name](spark, amount)
        texts.append(table)
        met = met and fine
        print(table + "\n", flush=True)
    spark.stop()
    if chosen.write:
        chosen.write.write_text("\n\n".join(texts) + "\n")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
