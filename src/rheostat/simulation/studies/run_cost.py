"""Cost of a run by the cost that policies minimise: EDF's (1), summed over operators and periods.

It is computed from the recording, so that it holds for any policy, and for a run on Spark as well.
"""

from collections.abc import Mapping
from itertools import groupby
from math import ceil, inf

from rheostat.model.graph.application import Application
from rheostat.policies.operators.period_cost import Weights, period_cost
from rheostat.report.recording import Recording


def total_cost(
    recording: Recording,
    application: Application,
    bounds_ms: Mapping[str, float],
    weights: Weights,
    period_seconds: float = 30.0,
) -> float:
    """Σ of the cost of a period over all periods and all operators that can be scaled.

    An operator is too slow in a period if its mean latency exceeds its bound, even because of a change; if it served
    nothing, it is too slow.
    """
    moments = range(len(recording.seconds))
    grouped = groupby(moments, key=lambda i: ceil(recording.seconds[i] / period_seconds - 1e-9))
    periods = [list(inside) for _, inside in grouped]
    total = 0.0
    for operator in application.operators:
        if operator.max_replicas == operator.min_replicas:
            continue
        counts, times = recording.replicas[operator.name], recording.latencies_ms[operator.name]
        before = counts[0] if counts else None
        for inside in periods:
            replicas = counts[inside[-1]] or 0.0
            served = [latency for i in inside if (latency := times[i]) is not None]
            total += period_cost(
                weights,
                changed=replicas != before,
                too_slow=not served or sum(served) / len(served) > bounds_ms.get(operator.name, inf),
                share_of_replicas=replicas / operator.max_replicas,
            )
            before = replicas
    return total
