"""Spark settings of a lean session. Every setting has its reason, and every one can be overridden.

Figures were measured on two cores: read them as ratios.
"""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rheostat.errors import InvalidModel, Mistake

LEAN: dict[str, tuple[str, str]] = {
    "spark.ui.enabled": ("false", "a web server per node that is never used"),
    "spark.ui.showConsoleProgress": ("false", "progress bars of micro-batches would flood the terminal"),
    "spark.sql.session.timeZone": ("UTC", "event times mean the same on every node"),
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        "repartitioning and rewriting of state need it",
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": ("true", "short commits"),
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager",
        "a micro-batch of a map takes 58 instead of 151 ms on a local disk",
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": ("false", "twice the number of files for no use here"),
    "spark.sql.streaming.noDataMicroBatches.enabled": (
        "true",
        "windows close when event time passes, not with the next row",
    ),
    "spark.sql.streaming.minBatchesToRetain": ("10", "a change needs the last batch only; fewer files to copy"),
    "spark.sql.streaming.stateStore.maintenanceInterval": (
        "20s",
        "one snapshot is kept each time and all before the last but one removed: a minute leaves 500 files",
    ),
    "spark.sql.streaming.stopTimeout": ("20s", "a query that does not stop must not stop the protocol"),
    "spark.sql.streaming.metricsEnabled": ("false", "samples come from the query's progress"),
    "spark.sql.adaptive.enabled": ("false", "adaptive plans are off in streaming anyway; explicit for state jobs"),
    "spark.sql.execution.arrow.maxRecordsPerBatch": ("10000", "few large batches between Spark and Python"),
    "spark.sql.execution.arrow.maxBytesPerBatch": (
        "2147483647",
        "no limit, or the size is added up after every row, a fifth of taxi routes' time; 10,000 rows end a batch",
    ),
    "spark.sql.codegen.cache.maxEntries": (
        "1000",
        "ten queries fill the usual 100, and what a change starts anew is compiled again: 30 classes with taxi routes",
    ),
    "spark.python.worker.reuse": ("true", "a new Python worker per task costs more than the task"),
    "spark.python.authenticate.socketTimeout": ("120s", "15 s are not enough for a worker to start on a busy machine"),
    "spark.scheduler.mode": ("FAIR", "a slow query must not make the others of the node wait"),
    "spark.log.level": ("ERROR", "warnings of every micro-batch would hide what matters"),
    "spark.driver.memory": ("1g", "several nodes share a machine"),
    "spark.driver.extraJavaOptions": (
        "-XX:+UseSerialGC -XX:TieredStopAtLevel=4 -Xss16m -Dlog4j2.disable.jmx=true",
        "no threads by the core to collect small heaps; a stack on which Spark can tell a stop from a fault (`why.md`)",
    ),
}


LOOPBACK: dict[str, tuple[str, str]] = {
    "spark.driver.host": ("127.0.0.1", "any client of Spark's ports can run any code, and needs no token"),
    "spark.driver.bindAddress": ("127.0.0.1", "the same; Spark would take the address of a network card"),
}
"""For a Spark that is one process: no other machine has to reach it."""
MASTER = re.compile(r"local(-cluster)?(\[[\d*, ]+\])?|yarn|(spark|k8s)://\S+")
JAVA = "spark.driver.extraJavaOptions"


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """Settings with which a node's Spark application is started."""

    master: str = "local"
    """Spark master: `local` (as many threads as the node has slots), `local[n]`, `spark://...`."""
    overrides: Mapping[str, str] = field(default_factory=dict)
    """Settings that replace or extend the lean ones."""
    masters: Mapping[str, str] = field(default_factory=dict)
    """Masters of nodes that do not use `master`, by node name."""

    def __post_init__(self) -> None:
        """Rejects invalid settings and lists every mistake."""
        mistakes = [
            Mistake((place,), f"{master!r} is not a Spark master", "write local, local[n] or spark://host:port")
            for place, master in [("master", self.master), *self.masters.items()]
            if not MASTER.fullmatch(master)
        ]
        for name in self.overrides:
            if name == "spark.master":
                mistakes.append(Mistake((name,), "this is the master's place", "say so with the master"))
            elif not name.startswith("spark."):
                mistakes.append(Mistake((name,), "settings of Spark begin with 'spark.'", "write spark.NAME=VALUE"))
        if mistakes:
            raise InvalidModel("Spark", mistakes)

    def of_node(self, name: str) -> "SparkSettings":
        """The settings of one node."""
        return replace(self, master=self.masters.get(name, self.master), masters={})

    def with_scratch(self, folder: Path) -> "SparkSettings":
        """The same settings, with all temporary files of Spark and its libraries below one folder.

        The owner of the folder can remove the files of a Spark that was killed.
        """
        options = f"{self.overrides.get(JAVA, LEAN[JAVA][0])} -Djava.io.tmpdir={folder}"
        return replace(self, overrides={"spark.local.dir": str(folder), **self.overrides, JAVA: options})

    @property
    def is_local(self) -> bool:
        """Whether all of Spark is one process on this machine."""
        return re.fullmatch(r"local(\[.*)?", self.master) is not None

    def resolved(self, slots: int) -> dict[str, str]:
        """All settings, with a thread per slot so that a slow operator does not take another's slots."""
        master = f"local[{max(1, slots)}]" if self.master == "local" else self.master
        lean = {name: value for name, (value, _) in (LEAN | LOOPBACK if self.is_local else LEAN).items()}
        elsewhere = {} if self.is_local else self._on_executors(slots)
        return {"spark.master": master, **lean, **elsewhere, **self.overrides}

    def _on_executors(self, slots: int) -> dict[str, str]:
        """Settings for the executors of a cluster, which inherit nothing of this process.

        A node takes as many of the cluster's cores as it has slots, so that several nodes can share a cluster; without
        that the first one takes all, and the others wait for ever.
        """
        return {
            "spark.cores.max": str(max(1, slots)),
            "spark.executorEnv.PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "spark.executor.extraJavaOptions": LEAN[JAVA][0],
        }
