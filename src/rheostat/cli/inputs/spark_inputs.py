"""What `--master` and `--spark` say about the Spark applications of the nodes."""

from collections.abc import Sequence

from rheostat.cli.output import Complaint, WrongUse, complaints_of
from rheostat.errors import InvalidModel
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.network.resources import Infrastructure
from rheostat.runtime.spark.spark_settings import MASTER, SparkSettings

DECIDED = {"spark.sql.shuffle.partitions": "it is the number of replicas on the node: scale the operator"}
"""Settings that the runtime decides for every query anew, and what to do instead."""


def spark_settings(
    masters: Sequence[str], settings: Sequence[str], infrastructure: Infrastructure, *, shared: bool
) -> SparkSettings:
    """The settings, or every complaint. `shared`: all nodes are one Spark application."""
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
    overrides: dict[str, str] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals:
            complaints.append(Complaint(f"--spark: {text!r} has no value", "write --spark spark.NAME=VALUE"))
        if name in DECIDED:
            complaints.append(Complaint(f"--spark: {name} is not for you to set", DECIDED[name]))
        overrides[name] = value
    try:
        found = SparkSettings(for_all, overrides, by_node)
    except InvalidModel as error:
        complaints += complaints_of(error)
    if complaints:
        raise WrongUse(*complaints)
    return found
