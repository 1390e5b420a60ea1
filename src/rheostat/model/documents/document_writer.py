"""Writer of model values as YAML documents that read back as the same values; defaults are left out."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from enum import Enum
from typing import Any

import yaml

from rheostat.model.documents.text.yaml_lines import FLOAT, INTEGER, OTHER_INTEGER
from rheostat.model.graph.application import Application, Operator, Stream
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.latency import Constant, LatencyModel
from rheostat.model.network.links import Link, LinkQuality
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.objective import Bounds, EdrpObjective, OdpObjective, Range
from rheostat.model.run_settings import RunSettings


class _Inline(dict[str, Any]):
    """A mapping that is written on one line."""


class _Row(list[Any]):
    """A list that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Safe dumper without aliases; quotes any text that YAML 1.1 or 1.2 would read as another type."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - nothing is ever repeated by reference
        """Writes every value in full."""
        return True


_Dumper.add_representer(_Inline, lambda d, data: d.represent_mapping("tag:yaml.org,2002:map", data, flow_style=True))
_Dumper.add_representer(_Row, lambda d, data: d.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True))
for _pattern, _tag in ((INTEGER, "int"), (OTHER_INTEGER, "int"), (FLOAT, "float")):
    _Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, list("-+.0123456789"))


def write(value: Application | Infrastructure | EdrpObjective | OdpObjective | Deployment | RunSettings) -> str:
    """The YAML text of a document; `read` of it gives an equal value."""
    return yaml.dump(_WRITERS[type(value)](value), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def _plain(value: Any) -> Any:
    """A field in YAML's types; whole numbers without their point."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return _Row(_plain(item) for item in value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def _said(value: Any, usual: Any = None) -> dict[str, Any]:
    """Fields of a dataclass that differ from their defaults, or from `usual` if it is given."""
    return {
        field.name: _plain(getattr(value, field.name))
        for field in fields(value)
        if getattr(value, field.name) != (_default(field) if usual is None else getattr(usual, field.name))
    }


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


def _application(application: Application) -> dict[str, Any]:
    document = {
        "kind": "application",
        "name": application.name,
        "operators": [_operator(operator) for operator in application.operators],
    }
    return document | _unless_empty("streams", [_stream(stream) for stream in application.streams])


def _operator(operator: Operator) -> dict[str, Any]:
    said = _said(operator)
    if operator.parameters:
        said["parameters"] = _Inline(operator.parameters)
    if operator.latency != Constant():
        said["latency"] = _latency(operator.latency)
    return said


def _latency(latency: LatencyModel) -> _Inline:
    """Every field that has no obvious default, always written."""
    written = {field.name: getattr(latency, field.name) for field in fields(latency)}  # type: ignore[arg-type]
    if written.get("saturation_tps") == float("inf"):
        del written["saturation_tps"]
    return _Inline(model=latency.kind, **{name: _plain(value) for name, value in written.items()})


def _stream(stream: Stream) -> _Inline:
    rest = _said(stream)
    return _Inline({"from": rest.pop("source"), "to": rest.pop("target"), **rest})


def _infrastructure(network: Infrastructure) -> dict[str, Any]:
    document: dict[str, Any] = {
        "kind": "infrastructure",
        "name": network.name,
        "nodes": [_Inline(_said(node)) for node in network.nodes],
    }
    document |= _unless_empty("default_link", _Inline(_said(network.default_link)))
    document |= _unless_empty("links", [_link(link, network.default_link) for link in network.links])
    if network.delays_ms is not None:
        document["delays_ms"] = [_plain(row) for row in network.delays_ms.rows]
    return document | _unless_empty("store", _Inline(_said(network.store)))


def _link(link: Link, default: LinkQuality) -> _Inline:
    """A link: the fields that differ from the default link, which the reader adds again."""
    written = _Inline({"from": link.source, "to": link.target, **_said(link.quality, default)})
    return written if link.both_ways else _Inline(written | {"both_ways": False})


def _edrp(objective: EdrpObjective) -> dict[str, Any]:
    document = {
        "kind": "objective",
        "form": "edrp",
        "weights": _weights(objective, "response_time", "cost", "downtime"),
    }
    return document | _unless_empty("bounds", _bounds(objective.bounds))


def _odp(objective: OdpObjective) -> dict[str, Any]:
    weights = _weights(objective, "response_time", "availability", "network")
    document = {"kind": "objective", "form": "odp", "weights": weights}
    document |= _unless_empty("bounds", _bounds(objective.bounds))
    document["network_metric"] = objective.network_metric.value
    ranges = {
        "response_time_ms": objective.response_time_range,
        "availability": objective.availability_range,
        "network": objective.network_range,
    }
    known = {name: _ends(ends) for name, ends in ranges.items() if ends is not None}
    return document | _unless_empty("normalisers", _Inline(known))


def _weights(objective: EdrpObjective | OdpObjective, *names: str) -> _Inline:
    return _Inline({name: _plain(getattr(objective, name)) for name in names if getattr(objective, name) != 0})


def _bounds(bounds: Bounds) -> _Inline:
    return _Inline(_said(bounds))


def _ends(ends: Range) -> _Row:
    return _Row([_plain(ends.least), _plain(ends.greatest)])


def _deployment(deployment: Deployment) -> dict[str, Any]:
    return {"kind": "deployment", "operators": {name: _replicas(replicas) for name, replicas in deployment.items()}}


def _replicas(replicas: Replicas) -> str | _Inline:
    return next(iter(replicas)) if len(replicas) == 1 else _Inline(replicas.counts)


def _run(settings: RunSettings) -> dict[str, Any]:
    return {"kind": "run", **settings.given()}


def _unless_empty(key: str, value: Any) -> dict[str, Any]:
    return {key: value} if value else {}


_WRITERS: Mapping[type[Any], Callable[[Any], dict[str, Any]]] = {
    Application: _application,
    Infrastructure: _infrastructure,
    EdrpObjective: _edrp,
    OdpObjective: _odp,
    Deployment: _deployment,
    RunSettings: _run,
}
