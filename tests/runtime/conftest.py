"""One Spark application for all tests of the runtime that need no other settings."""

import pytest
from experiments.walks import SPARK

from rheostat.runtime.spark.session import create_session


@pytest.fixture(scope="module")
def nodes_session():
    session = create_session(SPARK, 4, "tests")
    yield session
    for query in session.streams.active:
        query.stop()
    session.stop()
