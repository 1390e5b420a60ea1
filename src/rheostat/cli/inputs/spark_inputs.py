"""The Spark applications of the nodes, from `--master` and `--spark`."""

from collections.abc import Mapping, Sequence

from rheostat.cli.output import Complaint, WrongUse
from rheostat.errors import InvalidModel, Mistake
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.network.resources import Infrastructure
from rheostat.runtime.spark.spark_settings import MASTER, SparkSettings

DECIDED = {"spark.sql.shuffle.partitions": "it is the number of replicas on the node: scale the operator"}
"""Settings that the runtime decides for every query anew, and what to do instead."""


def spark_settings(
    masters: Sequence[str], settings: Mapping[str, str], infrastructure: Infrastructure, *, shared: bool
) -> SparkSettings:
    """The settings, or every complaint; `shared` says that all nodes are one Spark application."""
    complaints: list[Complaint] = []
    for_all, by_node = "local", dict[str, str]()
    for text in masters:
        node, _, master = text.partition("=")
        if not master or MASTER.fullmatch(text):
            for_all = text
        elif node not in infrastructure.index:
            what = f"--master: there is no node {node!r}"
            complaints.append(Complaint(what, did_you_mean(node, infrastructure.index)))
        elif shared:
            what = f"--master: embedded nodes share one Spark application, so {node!r} cannot have a master of its own"
            complaints.append(Complaint(what, "add --nodes process, or give one master for all"))
        else:
            by_node[node] = master
    for name in settings:
        if name in DECIDED:
            complaints.append(Complaint(f"--spark: {name} cannot be set", DECIDED[name]))
    try:
        found = SparkSettings(for_all, dict(settings), by_node)
    except InvalidModel as error:
        complaints += [_about(mistake, settings) for mistake in error.mistakes]
    if complaints:
        raise WrongUse(*complaints)
    return found


def _about(mistake: Mistake, settings: Mapping[str, str]) -> Complaint:
    """A mistake by the option that it was given with."""
    name = str(mistake.where[0])
    what = f"--spark: {name}: {mistake.what}" if name in settings else f"--master: {mistake.what}"
    return Complaint(what, mistake.remedy or None)
