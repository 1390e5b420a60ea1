"""One lean Spark session for the tests of sources."""

import pytest
from tests.examples.sessions import lean_session


@pytest.fixture(scope="module")
def spark():
    yield from lean_session()
