"""The options of the data source, as text, and the values they stand for.

| reading | |
|---|---|
| path | address of the channel |
| groups | owned key groups, "0-7,9"; all if absent |
| consumer | name of the instance, "count@n1" |
| start | offset (JSON) to begin at, if the checkpoint has none |
| replicas | input partitions of a batch |
| max_rows_per_batch | rows after which no further manifest is taken |
| batch_seconds | about how long a batch may take: of what waits it takes no more than that, see `batch_limit` |
| control | file that may hold or limit the reader |
| links | {"n1": {"delay_ms": 50, "bytes_per_second": 1e6}}: the network to emulate |
| outlets | [address, ...] of the channels the same query writes, for back-pressure |
| producer, max_lag_rows | its name there, and how many of its rows may wait there |
| clean_every_ms | the reader cleans the channel itself that often |
| beside | [address, ...] of the other channels the same query reads |

| writing | |
|---|---|
| producer, epoch, term | the claim under which it writes |
| continues | whether batch ids go on from the epoch before |
| outputs | see `format_outputs` |
| checkpoint, inputs | checkpoint of the query and [address, ...] of the channels it reads |
| frontier, disorder_ms | see `FrontierRule` |
| ingest | "inputs", "now" (when the batch was planned) or a column |
"""

import json
from collections.abc import Mapping
from pathlib import Path

from rheostat.runtime.channels.channel_store import open_channel
from rheostat.runtime.channels.reader.channel_reader import Outlet, ReadSettings
from rheostat.runtime.channels.reader.emulated_links import EmulatedLink
from rheostat.runtime.channels.reader.provenance import FrontierRule, Provenance, local_path
from rheostat.runtime.channels.records.key_groups import parse_groups
from rheostat.runtime.channels.records.offset import parse_offset
from rheostat.runtime.channels.writer.channel_writer import INGEST_INPUTS, INGEST_NOW, WriteSettings
from rheostat.runtime.channels.writer.outputs import parse_outputs


def reading_of(options: Mapping[str, str]) -> ReadSettings:
    """Settings of a reader, from the options of a source."""
    channel = open_channel(options["path"])
    return ReadSettings(
        channel,
        parse_groups(options["groups"]) if "groups" in options else channel.spec.all_groups,
        options.get("consumer"),
        parse_offset(options["start"]) if "start" in options else None,
        int(options.get("replicas", "1")),
        Path(options["control"]) if "control" in options else None,
        {node: EmulatedLink(**link) for node, link in json.loads(options.get("links", "{}")).items()},
        tuple(
            Outlet(open_channel(path), options["producer"], int(options["max_lag_rows"]))
            for path in json.loads(options.get("outlets", "[]"))
        ),
        int(options["clean_every_ms"]) if "clean_every_ms" in options else None,
        tuple(open_channel(path) for path in json.loads(options.get("beside", "[]"))),
    )


def writing_of(options: Mapping[str, str]) -> WriteSettings:
    """Settings of a writer, from the options of a sink."""
    inputs = tuple(json.loads(options.get("inputs", "[]")))
    provenance = Provenance(
        FrontierRule(options.get("frontier", "rows")),
        round(1000 * float(options.get("disorder_ms", "0"))),
        local_path(options["checkpoint"]) if "checkpoint" in options else None,
        inputs,
    )
    return WriteSettings(
        options["producer"],
        int(options.get("epoch", "1")),
        parse_outputs(options["outputs"]),
        provenance,
        options.get("ingest", INGEST_INPUTS if inputs else INGEST_NOW),
        options.get("continues", "true") == "true",
        int(options.get("term", "0")),
    )
