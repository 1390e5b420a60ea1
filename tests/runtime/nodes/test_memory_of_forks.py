"""Memory that processes share is counted once: all Python processes of Spark are forks of one."""

import os

from rheostat.runtime.nodes.node_usage import measured_usage

SHARED_BYTES = 64_000_000


def test_what_a_fork_shares_with_its_parent_is_counted_once():
    kept = bytearray(os.urandom(1)) * SHARED_BYTES
    alone = measured_usage().memory_bytes
    ends, begins = os.pipe()
    child = os.fork()
    if child == 0:
        # Nothing of the test may run here: it waits until it is told to end.
        os.close(begins)
        os.read(ends, 1)
        os._exit(0)
    try:
        together = measured_usage().memory_bytes
    finally:
        os.close(ends)
        os.close(begins)
        os.waitpid(child, 0)
    assert len(kept) == SHARED_BYTES
    assert together - alone < SHARED_BYTES / 2
