"""Real processes, really killed."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.runtime.channels.world import channel_at, rows_between

from rheostat.runtime.channels.port.channel import EpochClaim
from rheostat.runtime.channels.port.places import last_epoch
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.records.offset import Offset

ROOT = Path(__file__).parents[3]
WRITER = """
import sys
from rheostat.runtime.channels.channel_store import open_channel
from tests.runtime.channels.world import Row, opened, publish

channel, epoch = open_channel(sys.argv[1]), int(sys.argv[2])
producer = opened(channel, "p", epoch)
batch = max(0, producer.last_batch() - 1)
while True:
    publish(channel, producer, batch, [Row("p", 5 * batch + i, (batch + i) % 4) for i in range(5)])
    batch += 1
    print(batch, flush=True)
"""


def test_a_writer_killed_again_and_again_leaves_an_exact_log(tmp_path):
    channel = channel_at(tmp_path)
    chance = random.Random(7)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    here, handed = Offset.start("c", channel.spec.all_groups), []
    for _ in range(12):
        epoch = (last_epoch(channel.log(), "p") or 0) + chance.randrange(2)
        command = [sys.executable, "-c", WRITER, str(tmp_path), str(max(1, epoch))]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        assert process.stdout is not None
        for _ in range(chance.randrange(8)):
            process.stdout.readline()
        time.sleep(chance.uniform(0, 0.02))
        end = advance(channel.log(), here)
        handed += rows_between(channel, here, end)
        channel.consumers.commit("k@n1", end)
        channel.consumers.clean(0)
        here = end
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    end = advance(channel.log(), here)
    handed += rows_between(channel, here, end)
    last = channel.producers.open(EpochClaim("p", last_epoch(channel.log(), "p") or 1)).last_batch()
    assert sorted(row.number for row in handed) == list(range(5 * (last + 1)))
    for group in range(4):
        numbers = [row.number for row in handed if row.group == group]
        assert numbers == sorted(numbers)
    assert last > 10


def test_of_two_writers_that_compete_every_batch_is_written_once(tmp_path):
    """Both have the same epoch and write the same batches, as after a split of the network."""
    channel = channel_at(tmp_path)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    command = [sys.executable, "-c", WRITER, str(tmp_path), "1"]
    writers = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    for _ in range(20):
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
    channel.producers.open(EpochClaim("p", 2))
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.read()
        writer.stdout.close()
        assert writer.wait() != 0, "both are fenced off"
    start = Offset.start("c", channel.spec.all_groups)
    numbers = [row.number for row in rows_between(channel, start, advance(channel.log(), start))]
    assert sorted(numbers) == list(range(len(numbers)))
    assert len(numbers) > 50
