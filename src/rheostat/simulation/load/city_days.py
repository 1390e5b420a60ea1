"""Built-in workload with the daily pattern of a city, for use without a recording.

The shape is that of New York's taxis, as the mean of each hour over half a year (July 2014 to January 2015, the
`nyc_taxi` series of the Numenta Anomaly Benchmark), relative to the busiest hour. EDF 9 replays five such days in
twelve hours, between 150 and 500 tuples per second.
"""

import numpy as np

from rheostat.simulation.load.workload import TraceWorkload

HOURS = (
    *(0.640, 0.474, 0.350, 0.253, 0.186, 0.157, 0.319, 0.541, 0.670, 0.700, 0.703, 0.740),
    *(0.778, 0.777, 0.805, 0.771, 0.658, 0.789, 0.955, 1.000, 0.943, 0.938, 0.913, 0.811),
)
"""Passengers in each hour of the day, relative to the busiest hour."""
SPREAD = 0.13
"""Standard deviation of a day's demand relative to the mean day, in the same series."""


def city_days(
    least_tps: float = 150.0, greatest_tps: float = 500.0, *, days: int = 5, day_seconds: float = 8640.0, seed: int = 0
) -> TraceWorkload:
    """Several days with random demands, scaled so that all rates lie between two values [EDF 9]."""
    if days < 1 or not day_seconds > 0:
        raise ValueError(f"need at least one day that lasts, got {days} of {day_seconds} s")
    rng = np.random.default_rng(seed)
    demands = np.maximum(rng.normal(1.0, SPREAD, days), 0.3)
    # The rate of an hour is that at its middle; the last hour joins the next day's first.
    shape = np.outer(demands, HOURS).ravel()
    moments = (np.arange(len(shape)) + 0.5) * day_seconds / 24
    return TraceWorkload(tuple(moments.tolist()), tuple(shape.tolist())).scaled(least_tps, greatest_tps)
