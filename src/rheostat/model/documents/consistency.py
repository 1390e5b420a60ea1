"""Cross-checks between documents: each mismatch is reported in the file where it has to be corrected."""

from collections.abc import Collection, Sequence

from rheostat.errors import InvalidDocument, Located, Mistake
from rheostat.model.documents.document_reader import Document
from rheostat.model.documents.text.word_guess import closest_word
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.network.resources import Infrastructure


def check_together(documents: Sequence[Document]) -> None:
    """Rejects pins, candidates and deployments with names that the other documents do not define; reports all at once.

    Every application is checked against every infrastructure; a deployment against every infrastructure and the
    application whose operators it names.
    """
    networks = [document.value for document in documents if isinstance(document.value, Infrastructure)]
    applications = [document.value for document in documents if isinstance(document.value, Application)]
    found: list[Located] = []
    for document in documents:
        if isinstance(document.value, Application):
            for network in networks:
                found += _located(document, network.mistakes_of(document.value))
        elif isinstance(document.value, Deployment):
            found += _located(document, _deployment_mistakes(document.value, applications, networks))
    if found:
        raise InvalidDocument(found)


def _located(document: Document, mistakes: Sequence[Mistake]) -> list[Located]:
    file = str(document.path)
    return [Located(file, document.line_of(mistake.where), mistake.what, mistake.remedy) for mistake in mistakes]


def _deployment_mistakes(
    deployment: Deployment, applications: Sequence[Application], networks: Sequence[Infrastructure]
) -> list[Mistake]:
    found: list[Mistake] = []
    places: Sequence[Collection[str]] = [network.index for network in networks]
    if applications:
        application = max(applications, key=lambda one: sum(name in one.by_name for name in deployment))
        for nodes in places or [deployment.nodes()]:
            found += _of_application(deployment, application, nodes)
    for nodes in places:
        for operator, replicas in deployment.items():
            if not applications or operator not in application.by_name:
                found += _of_nodes(operator, replicas, nodes)
    return list(dict.fromkeys(found))


def _of_application(deployment: Deployment, application: Application, nodes: Collection[str]) -> list[Mistake]:
    """Mistakes of the deployment; an operator deployed under a misspelled name is not reported as missing as well."""
    unknown = [name for name in deployment if name not in application.by_name]
    missing = {name for name in application.by_name if name not in deployment}
    misspelled = {closest_word(name, missing) for name in unknown}
    return [
        mistake
        for mistake in deployment.mistakes(application, nodes)
        if not any(mistake.what == f"operator {name!r} is not deployed" for name in misspelled)
    ]


def _of_nodes(operator: str, replicas: Replicas, nodes: Collection[str]) -> list[Mistake]:
    return [
        Mistake(("operators", operator, node), f"there is no node {node!r}", did_you_mean(node, nodes))
        for node in replicas
        if node not in nodes
    ]
