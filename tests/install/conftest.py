"""The wheel, built once for all tests that install it."""

from pathlib import Path

import pytest

from tests.install.environment import Environment, built_wheel, light_environment, new_environment


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this clone."""
    return built_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def light(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    """The wheel, beside the requirements that are installed already: seconds."""
    return light_environment(tmp_path_factory.mktemp("light"), wheel)


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    """The wheel and everything it requires, installed anew: minutes."""
    return new_environment(tmp_path_factory.mktemp("fresh"), wheel)
