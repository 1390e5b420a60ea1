"""State that goes on with a source that has to begin: what Spark makes of a checkpoint that says so."""

import pytest
from examples.word_count.handwritten import word_counts

from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.job_runner import set_offsets
from rheostat.runtime.checkpoints.log_entries import NO_OFFSET

pytestmark = pytest.mark.spark


def counted(session, checkpoint):
    """All words there are, in one go."""
    counts = {}

    def keep(rows, _batch):
        counts.update({row["word"]: row["count"] for row in rows.collect()})

    words = word_counts(session, pace="all", total=50, rows_per_batch=50, seed=4)
    writer = words.writeStream.outputMode("update").option("checkpointLocation", str(checkpoint)).foreachBatch(keep)
    writer.trigger(availableNow=True).start().awaitTermination()
    return counts


def test_the_state_stays_and_the_source_is_read_from_its_beginning(spark, tmp_path):
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "1")
    once = counted(session, tmp_path / "checkpoint")
    set_offsets(Checkpoint(tmp_path / "checkpoint"), (NO_OFFSET,))
    twice = counted(session, tmp_path / "checkpoint")
    assert sum(once.values()) > 0
    assert twice == {word: 2 * count for word, count in once.items()}
