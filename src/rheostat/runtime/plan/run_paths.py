"""Paths of a run, below one directory that all agents share.

```
<root>/rheostat-run.json                        the marker of a run
<root>/journal.db                               what was decided and done
<root>/channels/<stream>/                       durable channels between queries
<root>/results/<sink>/                          what the exact sink has received, a channel too
<root>/agents/<node>/                           the process of a node: its address, log, lock and scratch files
<root>/nodes/<node>/checkpoints/<instance>/<n>/ checkpoints, n counts the changes of the instance; of the node alone
<root>/control/<instance>.json                  hold and limit, read by the instance before every batch
<root>/control/<instance>.notes/                how long its operators' own code took, by batch
```
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.graph.application import Application
from rheostat.model.graph.run_names import NAME_REMEDY, is_run_name
from rheostat.model.network.resources import Infrastructure


def check_names(application: Application, infrastructure: Infrastructure) -> None:
    """Refuses names of operators and nodes that cannot be names of files; every one of them is told."""
    mistakes = [
        *_unusable("operators", (operator.name for operator in application.operators)),
        *_unusable("nodes", (node.name for node in infrastructure.nodes)),
    ]
    if mistakes:
        raise InvalidModel(f"application {application.name!r} on {infrastructure.name!r}", mistakes)


def _unusable(kind: str, names: Iterable[str]) -> list[Mistake]:
    return [
        Mistake((kind, number, "name"), f"the name {name!r} cannot be used in a run", NAME_REMEDY)
        for number, name in enumerate(names)
        if not is_run_name(name)
    ]


@dataclass(frozen=True, slots=True)
class RunPaths:
    """The directory of one application."""

    root: Path

    @property
    def journal(self) -> Path:
        """The journal."""
        return self.root / "journal.db"

    @property
    def channels(self) -> Path:
        """The channels of all streams."""
        return self.root / "channels"

    def channel(self, source: str, target: str) -> Path:
        """The channel of a stream."""
        return self.channels / f"{source}--{target}"

    def results(self, sink: str) -> Path:
        """What a sink has received."""
        return self.root / "results" / sink

    def control(self, instance: str) -> Path:
        """The file that holds an instance back."""
        return self.root / "control" / f"{instance}.json"

    def scratch(self, node: str) -> Path:
        """Files that the Spark of a node needs only while it runs."""
        return self.agent(node) / "scratch"

    def agent(self, node: str) -> Path:
        """Files of the process of a node: also the supervisor that starts and ends it uses them."""
        return self.root / "agents" / node

    def checkpoints(self, node: str) -> Path:
        """All checkpoints of a node."""
        return self.root / "nodes" / node / "checkpoints"

    def checkpoint(self, node: str, instance: str, number: int) -> Path:
        """The checkpoint of an instance after so many changes of it."""
        return self.checkpoints(node) / instance / str(number)
