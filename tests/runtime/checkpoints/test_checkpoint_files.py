"""Contents of a checkpoint directory, the files needed of it, and the remains of a crash."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from rheostat.errors import CannotMove
from rheostat.runtime.checkpoints import completion as construction
from rheostat.runtime.checkpoints.capabilities import StateKind, StateWay, describe, require, why_not
from rheostat.runtime.checkpoints.checkpoint import Checkpoint, copy_skeleton, settled_batch
from rheostat.runtime.checkpoints.live_files import needed_files
from rheostat.runtime.checkpoints.log_entries import CommittedBatch, PlannedBatch
from rheostat.runtime.checkpoints.relocate import copy_ahead, relocate

CONF = {"spark.sql.shuffle.partitions": "2", "other": "x"}


def planned(number: int, partitions: int = 2, offset: str = '{"0":1}') -> PlannedBatch:
    metadata = {"batchWatermarkMs": 10, "batchTimestampMs": 20, "conf": CONF}
    return PlannedBatch(number, metadata, (offset,)).with_partitions(partitions)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    """Four committed batches of a transformWithState with two partitions; one has a snapshot at version 3."""
    made = Checkpoint(tmp_path / "old")
    made.path.mkdir()
    (made.path / "metadata").write_text('{"id":"x"}')
    for number in range(4):
        made.plan(planned(number))
        made.commit(CommittedBatch(number, 30))
    state = made.path / "state" / "0"
    for partition in range(2):
        (state / str(partition) / "SSTs").mkdir(parents=True)
        for version in range(1, 5):
            (state / str(partition) / f"{version}.changelog").write_text(f"changes {version}")
    with ZipFile(state / "1" / "3.zip", "w") as archive:
        listing = {"sstFiles": [{"localFileName": "1.sst", "dfsSstFileName": "1-new.sst", "sizeBytes": 3}]}
        archive.writestr("metadata", "v1\n" + json.dumps(listing))
    for name in ("1-new.sst", "0-old.sst"):
        (state / "1" / "SSTs" / name).write_text("sst")
    schema = state / "_stateSchema" / "default" / "0_abc"
    schema.parent.mkdir(parents=True)
    schema.write_text("schema")
    (state / "_metadata" / "v2").mkdir(parents=True)
    store = {
        "storeName": "default",
        "numPartitions": 2,
        "stateSchemaFilePaths": [f"file:/elsewhere/state/0/{schema.relative_to(state)}"],
    }
    document = {
        "operatorInfo": {"operatorId": 0, "operatorName": "transformWithStateExec"},
        "stateStoreInfo": [store],
        "operatorPropertiesJson": '{"timeMode":"EventTime"}',
    }
    (state / "_metadata" / "v2" / "0").write_text("v2\n" + json.dumps(document))
    return made


def test_entries_are_read_as_they_were_written(checkpoint):
    assert checkpoint.planned(2) == planned(2)
    assert checkpoint.committed(2) == CommittedBatch(2, 30)
    changed = checkpoint.planned(2).with_partitions(7).with_times(watermark_ms=5, timestamp_ms=6)
    assert (changed.partitions, changed.watermark_ms, changed.timestamp_ms) == (7, 5, 6)
    assert changed.metadata["conf"]["other"] == "x"


def test_an_entry_is_written_once(checkpoint):
    with pytest.raises(ValueError, match="written once"):
        checkpoint.plan(planned(3))


def test_other_log_formats_are_refused():
    with pytest.raises(CannotMove, match="v2"):
        PlannedBatch.parse(0, "v2\n{}\n{}")
    with pytest.raises(CannotMove, match="v2"):
        CommittedBatch.parse(0, "v2\n{}")


def test_an_uncommitted_batch_must_be_replayed_but_an_abandoned_repartitioning_has_read_nothing(checkpoint):
    assert settled_batch(checkpoint) == 3
    checkpoint.plan(planned(4, partitions=5))
    assert not checkpoint.is_settled
    assert settled_batch(checkpoint) == 3
    (checkpoint.path / "offsets" / "4").unlink()
    checkpoint.plan(planned(4))
    with pytest.raises(CannotMove, match="batch 4 is not committed"):
        settled_batch(checkpoint)


def test_only_the_last_version_of_the_state_is_needed(checkpoint):
    needed = {str(file) for file in needed_files(checkpoint)}
    assert {"offsets/2", "offsets/3", "commits/2", "commits/3", "metadata"} <= needed
    assert {"offsets/1", "commits/1"}.isdisjoint(needed)
    assert {f"state/0/0/{version}.changelog" for version in range(1, 5)} <= needed, "no snapshot: all changes"
    assert {file for file in needed if file.startswith("state/0/1/")} == {
        "state/0/1/3.zip",
        "state/0/1/4.changelog",
        "state/0/1/SSTs/1-new.sst",
    }


def test_a_version_with_a_hole_is_refused(checkpoint):
    (checkpoint.path / "state" / "0" / "0" / "2.changelog").unlink()
    with pytest.raises(CannotMove, match=r"2\.changelog"):
        needed_files(checkpoint)


def test_partitions_of_before_a_repartitioning_are_not_needed(checkpoint):
    (checkpoint.path / "state" / "0" / "2").mkdir()
    (checkpoint.path / "state" / "0" / "2" / "1.changelog").write_text("old")
    assert "state/0/2/1.changelog" not in {str(file) for file in needed_files(checkpoint)}


def test_a_relocated_checkpoint_names_its_schemas_at_the_new_place(checkpoint, tmp_path):
    relocate(checkpoint, tmp_path / "new")
    moved = json.loads((tmp_path / "new/state/0/_metadata/v2/0").read_text().partition("\n")[2])
    assert moved["stateStoreInfo"][0]["stateSchemaFilePaths"] == [
        f"file:{tmp_path}/new/state/0/_stateSchema/default/0_abc"
    ]
    assert Checkpoint(tmp_path / "new").operators()[0].properties == {"timeMode": "EventTime"}


def test_a_changed_file_is_copied_again_and_what_is_gone_is_removed(checkpoint, tmp_path):
    target = tmp_path / "new"
    assert copy_ahead(checkpoint, target).files > 0
    assert copy_ahead(checkpoint, target).files == 0
    rewritten = checkpoint.path / "state/0/0/4.changelog"
    rewritten.write_text("replayed!")
    (target / "state/0/0/.5.changelog.half.tmp").write_text("crash")
    checkpoint.plan(planned(4))
    checkpoint.commit(CommittedBatch(4, 30))
    for partition in range(2):
        (checkpoint.path / f"state/0/{partition}/5.changelog").write_text("changes 5")
    assert relocate(checkpoint, target).files == 5
    assert (target / "state/0/0/4.changelog").read_text() == "replayed!"
    assert not (target / "offsets/2").exists()
    assert not list(target.rglob("*.tmp"))
    assert construction.is_complete(target)
    assert {file.relative_to(target) for file in target.rglob("*") if file.is_file()} == {
        *needed_files(checkpoint),
        Path(construction.COMPLETE),
    }


def test_a_complete_copy_is_not_taken_for_one_of_a_later_state(checkpoint, tmp_path):
    relocate(checkpoint, tmp_path / "new")
    assert relocate(checkpoint, tmp_path / "new").files == 0
    checkpoint.plan(planned(4))
    with pytest.raises(ValueError, match="older copy"):
        relocate(checkpoint, tmp_path / "new")
    with pytest.raises(ValueError, match="complete"):
        copy_ahead(checkpoint, tmp_path / "new")


def test_the_skeleton_has_a_new_identity_and_no_rows(checkpoint, tmp_path):
    (checkpoint.path / "sources" / "0").mkdir(parents=True)
    (checkpoint.path / "sources" / "0" / "0").write_text("source")
    for name, offset, files in (("kept", "{}", 1), ("anew", "-", 0)):
        target = tmp_path / name
        target.mkdir()
        copy_skeleton(checkpoint, planned(4, partitions=5, offset=offset), target)
        assert json.loads((target / "metadata").read_text())["id"] != "x"
        assert not list(target.rglob("*.changelog"))
        assert len(list(target.glob("sources/0/*"))) == files
        assert '"numPartitions":5' in (target / "state/0/_metadata/v2/0").read_text()


def test_a_directory_that_is_not_ours_is_never_touched(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("precious")
    with pytest.raises(ValueError, match="not written by a migration"):
        construction.begin(tmp_path / "other", {"a": 1})
    assert (tmp_path / "other" / "file").read_text() == "precious"


def test_building_starts_anew_resumes_or_is_done(tmp_path):
    target = tmp_path / "target"
    assert construction.begin(target, {"a": 1})
    (target / "half").write_text("")
    assert construction.begin(target, {"a": 1}, resume=True)
    assert (target / "half").exists()
    assert construction.begin(target, {"a": 1})
    assert not (target / "half").exists()
    construction.finish(target)
    assert not construction.begin(target, {"a": 1})
    with pytest.raises(ValueError, match="another change"):
        construction.begin(target, {"a": 2})


def test_a_checkpoint_tells_its_kind_and_what_it_allows(checkpoint):
    assert describe(checkpoint).kind is StateKind.TRANSFORM
    assert describe(checkpoint).partitions == 2
    for way in StateWay:
        require(way, checkpoint)
    assert why_not(StateKind.AGGREGATION, StateWay.REBUILD) is None
    assert "complete mode" in str(why_not(StateKind.AGGREGATION, StateWay.REBUILD, "complete"))
    assert why_not(StateKind.GLOBAL_AGGREGATION, StateWay.RELOCATE) is None


def test_a_relative_path_is_no_checkpoint():
    with pytest.raises(ValueError, match="absolute"):
        Checkpoint(Path("here"))
