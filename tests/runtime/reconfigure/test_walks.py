"""Whatever deployments an application walks through while data arrives, its output is exactly the answer.

One short walk for each subject; the proof `walks` of `scripts/acceptance` takes a hundred long ones.
"""

import pytest
from experiments.subjects import NAMES
from experiments.walks import walk

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]


@pytest.mark.parametrize(("seed", "name"), list(enumerate(NAMES, 30)))
def test_a_random_walk_is_exact(name, seed, nodes_session, tmp_path):
    walked = walk(name, seed, nodes_session, tmp_path / "app", changes=3)
    assert (walked.lost, walked.duplicated, walked.late) == (0, 0, 0)
    assert walked.rolled_back == 0
