"""Models as files: applications, infrastructures, objectives and deployments in YAML, networks in GraphML and CSV."""

from rheostat.errors import InvalidDocument, Located
from rheostat.model.documents.delay_csv import read_delay_matrix
from rheostat.model.documents.reading import (
    KINDS,
    Document,
    read,
    read_application,
    read_deployment,
    read_infrastructure,
    read_objective,
)
from rheostat.model.documents.schema import json_schema
from rheostat.model.documents.together import check_together
from rheostat.model.documents.topology import read_topology
from rheostat.model.documents.writing import write

__all__ = [
    "KINDS",
    "Document",
    "InvalidDocument",
    "Located",
    "check_together",
    "json_schema",
    "read",
    "read_application",
    "read_delay_matrix",
    "read_deployment",
    "read_infrastructure",
    "read_objective",
    "read_topology",
    "write",
]
