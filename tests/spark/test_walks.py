"""Whatever deployments an application walks through while data arrives, its output is exactly the answer."""

import pytest
from experiments.walks import walk

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]


# Event time and several producers, two inputs, arbitrary state, update mode; `experiments.exactness` walks with all.
@pytest.mark.parametrize(("name", "seed"), [("window", 30), ("join", 31), ("row-state", 32), ("word-count", 33)])
def test_a_random_walk_is_exact(name, seed, nodes_session, tmp_path):
    walked = walk(name, seed, nodes_session, tmp_path / "app", changes=3)
    assert (walked.lost, walked.duplicated) == (0, 0)
    assert walked.rolled_back == 0
