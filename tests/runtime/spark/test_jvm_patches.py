"""Patches of Spark's process: files created without processes, and descriptors that are closed."""

import stat
from pathlib import Path

import pytest
from experiments.kinds import source

from rheostat.runtime.spark.jvm_patches import PATCHES, apply_patches

pytestmark = pytest.mark.spark

PER_START = 3
"""Descriptors that Spark leaves open for every start of a query with a Python source."""


def descriptors(spark) -> int:
    return len(list(Path(f"/proc/{spark._jvm.java.lang.ProcessHandle.current().pid()}/fd").iterdir()))


def run_once(spark, folder: Path) -> None:
    rows = source(spark, rows="experiments.kinds:row", curve="60", total=10)
    query = rows.writeStream.format("noop").option("checkpointLocation", str(folder)).trigger(once=True).start()
    query.awaitTermination()


def test_everything_is_mended_and_once_is_enough(nodes_session):
    assert apply_patches(nodes_session) == apply_patches(nodes_session.newSession()) == PATCHES


def test_a_query_that_was_started_and_stopped_leaves_no_descriptor(nodes_session, tmp_path):
    run_once(nodes_session, tmp_path / "first")
    before = descriptors(nodes_session)
    for number in range(6):
        run_once(nodes_session, tmp_path / str(number))
    assert descriptors(nodes_session) - before < 6 * PER_START / 2


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o400, 0o1777])
def test_permissions_are_those_that_were_asked_for(nodes_session, tmp_path, mode):
    hadoop = nodes_session._jvm.org.apache.hadoop
    files = hadoop.fs.FileSystem.getLocal(nodes_session.sparkContext._jsc.hadoopConfiguration())
    path = hadoop.fs.Path(str(tmp_path / "file"))
    files.create(path, True).close()
    files.setPermission(path, nodes_session._jvm.org.apache.hadoop.fs.permission.FsPermission(f"{mode:o}"))
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


def test_files_have_checksums_as_before(nodes_session, tmp_path):
    hadoop = nodes_session._jvm.org.apache.hadoop
    files = hadoop.fs.FileSystem.getLocal(nodes_session.sparkContext._jsc.hadoopConfiguration())
    files.create(hadoop.fs.Path(str(tmp_path / "file")), True).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".file.crc", "file"]
