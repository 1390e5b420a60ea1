"""Models as files: applications, infrastructures, objectives and deployments in YAML, networks in GraphML and CSV.

It uses every other room of `model`.
"""

from rheostat.errors import InvalidDocument, Located
from rheostat.model.documents.consistency import check_together
from rheostat.model.documents.document_reader import (
    KINDS,
    Document,
    application_of,
    infrastructure_of,
    read,
    read_application,
    read_deployment,
    read_infrastructure,
    read_objective,
)
from rheostat.model.documents.document_writer import write
from rheostat.model.documents.networks.delay_csv import read_delay_matrix
from rheostat.model.documents.networks.topology import read_topology
from rheostat.model.documents.shapes.json_schema import json_schema

__all__ = [
    "KINDS",
    "Document",
    "InvalidDocument",
    "Located",
    "application_of",
    "check_together",
    "infrastructure_of",
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
