"""The runner of state jobs: writes the new checkpoint that a job describes."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from rheostat.runtime.channels.records.key_groups import parse_groups
from rheostat.runtime.checkpoints import durable_files as durable
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.relocate import copy_ahead, relocate
from rheostat.runtime.checkpoints.repartition import repartition
from rheostat.runtime.checkpoints.rewrite import Child, rebuild
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.checkpoints.state_keys import Key
from rheostat.runtime.checkpoints.state_rows import Parent


def run_job(spark: SparkSession, job: StateJob) -> None:
    """Runs a job. The target is complete when this returns, and is to be removed if it raises."""
    target = Path(job.target)
    if job.way == "offsets":
        _take_offsets(Checkpoint(Path(job.parents[0][0])), target)
    elif job.way in {"copy", "repartition"}:
        relocate(Checkpoint(Path(job.parents[0][0])), target)
        if job.way == "repartition":
            repartition(spark, Checkpoint(target), job.partitions)
    else:
        parents = [Parent(Checkpoint(Path(path)), parse_groups(groups)) for path, groups in job.parents]
        child = Child(target, parse_groups(job.groups), job.partitions)
        rebuild(spark, child, parents, Key.of(*job.key, groups=job.key_groups), _first_known)
    if job.offsets:
        set_offsets(Checkpoint(target), job.offsets)
    shutil.rmtree(target / "sources", ignore_errors=True)
    if job.source and (Path(job.source) / "sources").exists():
        shutil.copytree(Path(job.source) / "sources", target / "sources")
        durable.sync_tree(target / "sources")
    # Two children of one parent are two queries: Spark stops a running query when another with its identity starts.
    durable.write_text(target / "metadata", json.dumps({"id": str(uuid4())}))


def prepare_job(job: StateJob) -> None:
    """Copies the files that will not change any more, while the old instance still runs."""
    if job.can_begin_early:
        copy_ahead(Checkpoint(Path(job.parents[0][0])), Path(job.target))


def set_offsets(checkpoint: Checkpoint, offsets: tuple[str, ...]) -> None:
    """Replaces how far the sources were read as of the last batch, whose state stays."""
    last = checkpoint.last_planned
    for number in (last,) if last is not None else ():
        entry = replace(checkpoint.planned(number), offsets=offsets)
        path = checkpoint.path / "offsets" / str(number)
        durable.write_text(path, entry.text())


def _first_known(_number: int, offsets: Any) -> str:
    """A placeholder: the real offsets of the new instance are set afterwards, there may be more or fewer of them."""
    return next((offset for offset in offsets if offset is not None), "-")


def _take_offsets(parent: Checkpoint, target: Path) -> None:
    """A checkpoint without state that goes on where the parent's sources were."""
    last = parent.last_committed
    target.mkdir(parents=True, exist_ok=True)
    for log in ("offsets", "commits"):
        (target / log).mkdir(exist_ok=True)
        # Spark wants the batch before the last one, too.
        for number in (last - 1, last) if last is not None else ():
            if (parent.path / log / str(number)).exists():
                shutil.copy(parent.path / log / str(number), target / log / str(number))
    durable.sync_tree(target)
