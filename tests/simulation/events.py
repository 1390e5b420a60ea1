"""An independent account of queues: tuple by tuple, by Lindley's equation for waiting times."""

import numpy as np


def times_in_queue(arrivals, services):
    """Time in the system of every tuple of a single server, first come first served."""
    done = 0.0
    times = []
    for moment, service in zip(arrivals.tolist(), services.tolist(), strict=True):
        done = max(done, moment) + service
        times.append(done - moment)
    return np.array(times)


def poisson(rate, count, rng):
    """Moments at which tuples come by chance."""
    return np.cumsum(rng.exponential(1 / rate, count))


def gamma_services(rate, variability, count, rng):
    """Service times of this mean rate and squared coefficient of variation."""
    if variability == 0:
        return np.full(count, 1 / rate)
    return rng.gamma(1 / variability, variability / rate, count)
