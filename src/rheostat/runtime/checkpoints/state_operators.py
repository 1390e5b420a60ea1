"""The stateful operators of a checkpoint, from Spark's own operator metadata.

Most operators write `state/<n>/_metadata/metadata` once (version 1). transformWithState writes
`state/<n>/_metadata/v2/<batch>` (version 2), which also holds the absolute paths of its schema files.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

_EMPTY_KEY = b'{"type":"struct","fields":[]}'
_SCHEMA_PATH = re.compile(r"^.*/state/(\d+/_stateSchema/.*)$")


@dataclass(frozen=True, slots=True)
class OperatorState:
    """One stateful operator of a checkpoint."""

    number: int
    """Its place in the query: the folder `state/<number>`."""
    name: str
    """Spark's name of the operator, such as "stateStoreSave"."""
    stores: tuple[str, ...]
    """Its state stores; a join has four."""
    properties: Mapping[str, Any]
    """What transformWithState says of its time mode, output mode and variables; empty for other operators."""
    has_key: bool
    """False for an aggregation over everything, whose state is one row without a key."""

    @classmethod
    def read(cls, folder: Path, batch: int) -> Self:
        """The operator whose state is in `folder`, as it was at a batch."""
        document = json.loads(metadata_file(folder, batch).read_text().partition("\n")[2])
        info = document["operatorInfo"]
        return cls(
            number=int(info["operatorId"]),
            name=str(info["operatorName"]),
            stores=tuple(str(store["storeName"]) for store in document["stateStoreInfo"]),
            properties=MappingProxyType(json.loads(document.get("operatorPropertiesJson") or "{}")),
            has_key=not _key_is_empty(folder),
        )


def metadata_file(folder: Path, batch: int) -> Path:
    """The operator metadata that holds at a batch: the latest that is not younger."""
    versions = [int(file.name) for file in (folder / "_metadata" / "v2").glob("*") if file.name.isdigit()]
    past = [version for version in versions if version <= batch]
    return folder / "_metadata" / "v2" / str(max(past)) if past else folder / "_metadata" / "metadata"


def schema_files(folder: Path) -> list[Path]:
    """The schemas of an operator's state: in partition 0, one per store; transformWithState has a folder for them."""
    found = [
        *folder.glob("0/_metadata/schema"),
        *folder.glob("0/*/_metadata/schema"),
        *folder.glob("_stateSchema/**/*"),
    ]
    return [file for file in found if file.is_file() and not file.name.startswith(".")]


def moved_metadata(text: str, target: Path, partitions: int | None) -> str:
    """The text of an operator metadata file for a checkpoint at `target`, with another number of partitions if given.

    Schema paths are cut behind `/state/`, so that it does not matter where the checkpoint had been before.
    """
    version, _, body = text.partition("\n")
    document = json.loads(body)
    for store in document["stateStoreInfo"]:
        if partitions is not None:
            store["numPartitions"] = partitions
        if "stateSchemaFilePaths" in store:
            store["stateSchemaFilePaths"] = [_moved_path(path, target) for path in store["stateSchemaFilePaths"]]
    return f"{version}\n{json.dumps(document, separators=(',', ':'))}"


def _moved_path(path: str, target: Path) -> str:
    found = _SCHEMA_PATH.match(path)
    if found is None:
        raise ValueError(f"not the path of a state schema: {path}")
    return f"file:{target}/state/{found[1]}"


def _key_is_empty(folder: Path) -> bool:
    """The schema file starts with its version and the key's schema; an aggregation of everything has no key fields."""
    schema = folder / "0" / "_metadata" / "schema"
    return schema.exists() and _EMPTY_KEY in schema.read_bytes()[:64]
