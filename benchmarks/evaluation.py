"""Time and memory for evaluating a deployment of 200 operators on 1,000 nodes.

The goal: under 50 ms, under 200 MB beside the delay matrix, no Python loop over pairs of nodes. Run it with
`python benchmarks/evaluation.py`; it exits with 1 if the goal is missed by the best of several runs.
"""

import sys
import time
import tracemalloc

import numpy as np

from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.latency import MM1
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node
from rheostat.model.quality.evaluation import evaluate
from rheostat.model.quality.placed import Placed

OPERATORS, NODES, REPLICAS, RUNS = 200, 1_000, 6, 20
GOAL_MS, GOAL_MB = 50.0, 200.0


def large_application(random: np.random.Generator) -> Application:
    """A deep graph: every operator reads from up to three of the ten before it."""
    names = [f"o{i}" for i in range(OPERATORS)]
    source = Operator(names[0], Kind.SOURCE, rate_tps=1, latency=MM1(300))
    rest = [Operator(name, latency=MM1(1e9), max_replicas=REPLICAS) for name in names[1:]]
    streams = [
        Stream(names[j], names[i], selectivity=0.3)
        for i in range(1, OPERATORS)
        for j in sorted(set(random.integers(max(0, i - 10), i, size=3).tolist()))
    ]
    return Application("large", (source, *rest), tuple(streams))


def main() -> int:
    """Prints one table and says whether the goal was met."""
    random = np.random.default_rng(1)
    application = large_application(random)
    delays = DelayMatrix.of(random.uniform(1, 80, (NODES, NODES)))
    infrastructure = Infrastructure("large", tuple(Node(f"n{i}", 4) for i in range(NODES)), delays_ms=delays)
    _ = infrastructure.network, application.rates

    def deployment() -> Deployment:
        return Deployment.of(
            {
                operator.name: Replicas.on(*(f"n{u}" for u in random.integers(0, NODES, operator.max_replicas)))
                for operator in application.operators
            }
        )

    times = []
    for _ in range(RUNS):
        wanted = deployment()
        began = time.perf_counter()
        evaluate(Placed(application, infrastructure, wanted))
        times.append(1000 * (time.perf_counter() - began))
    tracemalloc.start()
    evaluate(Placed(application, infrastructure, deployment()))
    peak_mb = tracemalloc.get_traced_memory()[1] / 1e6
    print("| operators | streams | nodes | replicas each | best ms | median ms | peak MB |")
    print("|---|---|---|---|---|---|---|")
    print(
        f"| {OPERATORS} | {len(application.streams)} | {NODES} | {REPLICAS} | {min(times):.1f} "
        f"| {np.median(times):.1f} | {peak_mb:.1f} |"
    )
    return int(min(times) > GOAL_MS or peak_mb > GOAL_MB)


if __name__ == "__main__":
    sys.exit(main())
