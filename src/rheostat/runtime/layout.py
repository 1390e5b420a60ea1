"""Where everything of a running application lies, below one directory that all agents share.

```
<root>/journal.db                               what was decided and done
<root>/channels/<stream>/                       durable channels between queries
<root>/results/<sink>/                          what the exact sink has received, a channel too
<root>/nodes/<node>/checkpoints/<instance>/<n>/ checkpoints, n counts the changes of the instance
<root>/control/<instance>.json                  hold and limit, read by the instance before every batch
```
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Layout:
    """The directory of one application."""

    root: Path

    @property
    def journal(self) -> Path:
        """The journal."""
        return self.root / "journal.db"

    def channel(self, source: str, target: str) -> Path:
        """The channel of a stream."""
        return self.root / "channels" / f"{source}--{target}"

    def results(self, sink: str) -> Path:
        """What a sink has received."""
        return self.root / "results" / sink

    def control(self, instance: str) -> Path:
        """The file that holds an instance back."""
        return self.root / "control" / f"{instance}.json"

    def scratch(self, node: str) -> Path:
        """What the Spark of a node needs only while it runs."""
        return self.root / "nodes" / node / "scratch"

    def checkpoints(self, node: str) -> Path:
        """All checkpoints of a node."""
        return self.root / "nodes" / node / "checkpoints"

    def checkpoint(self, node: str, instance: str, number: int) -> Path:
        """The checkpoint of an instance after so many changes of it."""
        return self.checkpoints(node) / instance / str(number)
