"""Objectives: weights, normalisers and bounds of the metrics, in the forms of ODP and EDRP.

Both papers use a weighted sum of normalised metrics (Simple Additive Weighting): ODP maximises a utility, EDRP
minimises a cost.
"""

from dataclasses import dataclass
from math import inf, isclose, isfinite, isnan, log

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.quality.qos import NetworkMetric


@dataclass(frozen=True, slots=True)
class Metrics:
    """Metrics that an objective weighs."""

    response_time_ms: float
    availability: float = 1.0
    cost_per_hour: float = 0.0
    downtime_seconds: float = 0.0
    network: float = 0.0
    """T, N or EE, as the objective chooses."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds that a deployment must keep, independent of the weights [EDRP, eq. 15-17]."""

    response_time_ms: float = inf
    """R_max."""
    cost_per_hour: float = inf
    """C_max."""
    downtime_seconds: float = inf
    """T_D,max."""
    availability: float = 0.0
    """Lower bound of the availability."""

    def broken_by(self, metrics: Metrics, tolerance: float = 1e-9) -> tuple[str, ...]:
        """The bounds that a deployment breaks, in words."""
        found = [
            f"{name} {value:g} exceeds {bound:g}"
            for name, value, bound in (
                ("response_time_ms", metrics.response_time_ms, self.response_time_ms),
                ("cost_per_hour", metrics.cost_per_hour, self.cost_per_hour),
                ("downtime_seconds", metrics.downtime_seconds, self.downtime_seconds),
            )
            if not value <= bound + tolerance
        ]
        if metrics.availability < self.availability - tolerance:
            found.append(f"availability {metrics.availability:g} is below {self.availability:g}")
        return tuple(found)

    def mistakes(self, where: tuple[str | int, ...] = ("bounds",)) -> list[Mistake]:
        """Invalid bounds."""
        found = [
            Mistake((*where, name), f"{getattr(self, name)} is not a number > 0", "write a number > 0")
            for name in ("response_time_ms", "cost_per_hour", "downtime_seconds")
            if not getattr(self, name) > 0
        ]
        if not 0 <= self.availability <= 1:
            what = f"{self.availability} is not a probability"
            found.append(Mistake((*where, "availability"), what, "write a number from 0 to 1"))
        return found


@dataclass(frozen=True, slots=True)
class EdrpObjective:
    """A cost to minimise: response time, cost and downtime, each normalised by its bound."""

    response_time: float = 0.5
    """w_r."""
    cost: float = 0.5
    """w_c."""
    downtime: float = 0.0
    """w_d."""
    bounds: Bounds = Bounds()
    """The bounds; they also are the normalisers."""

    def __post_init__(self) -> None:
        """Rejects invalid weights, and a weighed metric without its normaliser."""
        found = (
            weight_mistakes({"response_time": self.response_time, "cost": self.cost, "downtime": self.downtime})
            + self.bounds.mistakes()
        )
        normalisers = (
            ("response_time", "response_time_ms"),
            ("cost", "cost_per_hour"),
            ("downtime", "downtime_seconds"),
        )
        for weight, bound in normalisers:
            if getattr(self, weight) > 0 and not isfinite(getattr(self.bounds, bound)):
                what = f"{weight} is weighed but has no bound to normalise it by"
                found.append(Mistake(("bounds", bound), what, f"write bounds: {{{bound}: ...}}"))
        if found:
            raise InvalidModel("objective", found)

    def cost_of(self, metrics: Metrics) -> float:
        """F, smaller is better [EDRP, eq. 12]."""
        terms = (
            (self.response_time, metrics.response_time_ms, self.bounds.response_time_ms),
            (self.cost, metrics.cost_per_hour, self.bounds.cost_per_hour),
            (self.downtime, metrics.downtime_seconds, self.bounds.downtime_seconds),
        )
        return sum(weight * value / scale for weight, value, scale in terms if weight > 0)


@dataclass(frozen=True, slots=True)
class Range:
    """Least and greatest value of a metric: ODP's X_min and X_max."""

    least: float
    greatest: float

    def __post_init__(self) -> None:
        """Rejects an invalid range."""
        if not (isfinite(self.least) and isfinite(self.greatest) and self.least <= self.greatest):
            raise ValueError(f"need finite least <= greatest, got {self.least} and {self.greatest}")

    def normalised(self, value: float) -> float:
        """The value scaled to 1 at the least and 0 at the greatest; 1 if both are equal."""
        width = self.greatest - self.least
        return (self.greatest - value) / width if width > 0 else 1.0


@dataclass(frozen=True, slots=True)
class OdpObjective:
    """A utility to maximise: response time, availability and one network metric."""

    response_time: float = 1.0
    """w_r."""
    availability: float = 0.0
    """w_a."""
    network: float = 0.0
    """w_z."""
    network_metric: NetworkMetric = NetworkMetric.TRAFFIC
    """Z: T, N or EE."""
    response_time_range: Range | None = None
    """R_min and R_max in milliseconds. None: a planner computes it once per problem."""
    availability_range: Range | None = None
    """A_min and A_max."""
    network_range: Range | None = None
    """Z_min and Z_max."""
    bounds: Bounds = Bounds()

    def __post_init__(self) -> None:
        """Rejects invalid weights."""
        found = (
            weight_mistakes(
                {"response_time": self.response_time, "availability": self.availability, "network": self.network}
            )
            + self.bounds.mistakes()
        )
        if self.availability_range is not None and not self.availability_range.least > 0:
            what = "an availability of 0 has no logarithm"
            found.append(Mistake(("normalisers", "availability"), what, "write [least, greatest] with least > 0"))
        if found:
            raise InvalidModel("objective", found)

    def utility_of(self, metrics: Metrics) -> float:
        """F = w_r (R_max-R)/(R_max-R_min) + w_a (log A-log A_min)/(log A_max-log A_min) [ODP, eq. 9].

        With w_z > 0 also + w_z (Z_max-Z)/(Z_max-Z_min) [ODP, eq. 22].
        """
        utility = 0.0
        if self.response_time > 0:
            utility += self.response_time * _known(self.response_time_range, "response_time").normalised(
                metrics.response_time_ms
            )
        if self.availability > 0:
            known = _known(self.availability_range, "availability")
            logs = Range(log(known.least), log(known.greatest))
            # Larger is better here, so the direction is the opposite of `Range.normalised`.
            width = logs.greatest - logs.least
            utility += self.availability * ((log(metrics.availability) - logs.least) / width if width > 0 else 1.0)
        if self.network > 0:
            utility += self.network * _known(self.network_range, "network").normalised(metrics.network)
        return utility


Objective = EdrpObjective | OdpObjective


def weight_mistakes(weights: dict[str, float], where: tuple[str | int, ...] = ("weights",)) -> list[Mistake]:
    """Invalid weights: negative, not numbers, or not summing to 1."""
    found = [
        Mistake((*where, name), f"{value} is not a weight", "write a number from 0 to 1")
        for name, value in weights.items()
        if isnan(value) or not 0 <= value <= 1
    ]
    total = sum(weights.values())
    if not found and not isclose(total, 1.0, abs_tol=1e-9):
        found.append(Mistake(where, f"the weights sum to {total:g}", "make them sum to 1"))
    return found


def _known(known: Range | None, name: str) -> Range:
    if known is None:
        raise ValueError(f"{name} is weighed but its normaliser is not known: set {name}_range, or use a planner")
    return known
