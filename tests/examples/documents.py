"""Comparing an application written in Python with its document."""

from dataclasses import replace
from pathlib import Path

from rheostat.model.graph.application import Application


def without_service_times(application: Application) -> Application:
    """The same application; a service time of 0, which is the default, is not written down."""
    operators = (
        replace(one, parameters=tuple(pair for pair in one.parameters if pair != ("service_ms", 0.0)))
        for one in application.operators
    )
    return replace(application, operators=tuple(operators))


def document_of(example: str) -> Path:
    """Where the document of an example lies."""
    return Path(__file__).parents[2] / "examples" / example / "application.yaml"
