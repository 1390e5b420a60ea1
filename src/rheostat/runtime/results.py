"""What the exact sink has received: a channel that is only ever read as a whole."""

from pathlib import Path

import pyarrow as pa

from rheostat.runtime.channels.channel import Channel
from rheostat.runtime.channels.log import DiskLog, last_epoch
from rheostat.runtime.channels.manifest import Kind


def read_results(channel: Channel) -> pa.Table:
    """All rows in the order they were published, each exactly once."""
    log = DiskLog(channel)
    found = []
    for producer in log.producers():
        for epoch in range(1, (last_epoch(log, producer) or 0) + 1):
            for slot in log.slots(producer, epoch):
                manifest = log.entry(producer, epoch, slot)
                if manifest is not None and manifest.kind is Kind.BATCH:
                    paths = [channel.segments(producer, epoch) / segment.name for segment in manifest.segments]
                    found.append((manifest.published_ms, producer, epoch, slot, paths))
    tables = [_rows(path) for *_, paths in sorted(found) for path in paths]
    # What may be null is concluded from the plan of a query: it differs between deployments.
    return pa.concat_tables(tables, promote_options="default") if tables else pa.table({})


def _rows(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as file, pa.ipc.open_file(file) as segment:
        return segment.read_all()
