"""Schema of objective documents, and its conversion to an objective. A weight that is not given is 0."""

from typing import Annotated, Literal

from pydantic import Field

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.documents.text.shape import Positive, Shape, Weight
from rheostat.model.documents.text.written import Path
from rheostat.model.quality.objective import Bounds, EdrpObjective, Objective, OdpObjective, Range
from rheostat.model.quality.qos import NetworkMetric

Ends = Annotated[list[float], Field(min_length=2, max_length=2)]


class BoundsShape(Shape):
    """Bounds that a deployment must keep; a metric without one is not bounded."""

    response_time_ms: Positive = float("inf")
    """Upper bound of the response time, in milliseconds."""
    cost_per_hour: Positive = float("inf")
    """Upper bound of the cost, in $ per hour."""
    downtime_seconds: Positive = float("inf")
    """Upper bound of the downtime of a reconfiguration, in seconds."""
    availability: Weight = 0.0
    """Lower bound of the availability."""

    def value(self) -> Bounds:
        """The bounds."""
        return Bounds(**self.model_dump())


class EdrpWeights(Shape):
    """Weights of the metrics; they sum to 1."""

    response_time: Weight = 0.0
    cost: Weight = 0.0
    downtime: Weight = 0.0


class OdpWeights(Shape):
    """Weights of the metrics; they sum to 1."""

    response_time: Weight = 0.0
    availability: Weight = 0.0
    network: Weight = 0.0


class NormalisersShape(Shape):
    """Least and greatest value of each metric; a planner computes those not given."""

    response_time_ms: Ends | None = None
    """[least, greatest] in milliseconds."""
    availability: Ends | None = None
    """[least, greatest] probability, above 0."""
    network: Ends | None = None
    """[least, greatest] of the network metric."""


class EdrpShape(Shape):
    """A cost to minimise, normalised by the bounds."""

    kind: Literal["objective"]
    form: Literal["edrp"] = Field(examples=["edrp"])
    """Form of the objective: edrp is a cost to minimise, odp a utility to maximise."""
    weights: EdrpWeights = Field(examples=[{"response_time": 0.5, "cost": 0.5}])
    bounds: BoundsShape = BoundsShape()

    def value(self) -> Objective:
        """The objective; InvalidModel if it contradicts itself."""
        return EdrpObjective(**self.weights.model_dump(), bounds=self.bounds.value())


class OdpShape(Shape):
    """A utility to maximise, with normalisers of its own."""

    kind: Literal["objective"]
    form: Literal["odp"] = Field(examples=["odp"])
    """Form of the objective: edrp is a cost to minimise, odp a utility to maximise."""
    weights: OdpWeights = Field(examples=[{"response_time": 1}])
    bounds: BoundsShape = BoundsShape()
    network_metric: Annotated[NetworkMetric, Field(strict=False)] = NetworkMetric.TRAFFIC
    """The metric of the weight `network`: traffic, usage or elastic_energy."""
    normalisers: NormalisersShape = NormalisersShape()

    def value(self) -> Objective:
        """The objective; InvalidModel if it contradicts itself, ValueError if a range is invalid."""
        ends = self.normalisers
        return OdpObjective(
            **self.weights.model_dump(),
            network_metric=self.network_metric,
            response_time_range=_range(ends.response_time_ms),
            availability_range=_range(ends.availability),
            network_range=_range(ends.network),
            bounds=self.bounds.value(),
        )


ObjectiveShape = EdrpShape | OdpShape


def objective_mistakes(shape: ObjectiveShape, reported: dict[Path, Mistake]) -> list[Mistake]:
    """Every mistake of the objective, except those reported already."""
    found: list[Mistake] = []
    if isinstance(shape, OdpShape):
        found = _range_mistakes(shape.normalisers)
        without = {str(mistake.where[-1]): None for mistake in found}
        shape = shape.model_copy(update={"normalisers": shape.normalisers.model_copy(update=without)})
    try:
        shape.value()
    except InvalidModel as error:
        found += error.mistakes
    # If a weight could not be read, their sum means nothing.
    unread = any(path[0] == "weights" for path in reported)
    found = [mistake for mistake in found if not (unread and mistake.where == ("weights",))]
    return [_where_it_is_weighed(mistake, shape) for mistake in found]


def _where_it_is_weighed(mistake: Mistake, shape: ObjectiveShape) -> Mistake:
    """The mistake, reported at the weight if a bound is missing and there are no bounds at all."""
    if "has no bound" not in mistake.what or "bounds" in shape.model_fields_set:
        return mistake
    return Mistake(("weights", mistake.what.split()[0]), mistake.what, mistake.remedy)


def _range_mistakes(ends: NormalisersShape) -> list[Mistake]:
    found = []
    for name in NormalisersShape.model_fields:
        try:
            _range(getattr(ends, name))
        except ValueError as error:
            found.append(Mistake(("normalisers", name), str(error), "write [least, greatest]"))
    return found


def _range(ends: list[float] | None) -> Range | None:
    return None if ends is None else Range(*ends)
