"""The command line in one process, and the documents of the tour."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rheostat.cli.main import app

DOCUMENTS = Path(__file__).parents[2] / "examples" / "documents"


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout, refusing what is no JSON."""

        def refuse(token: str) -> None:
            raise AssertionError(f"{token} is no JSON")

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture
def rheostat(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """Runs `rheostat` with these arguments, among the documents of the tour."""
    monkeypatch.chdir(DOCUMENTS)
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*arguments: object) -> Answer:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return Answer(result.exit_code, result.stdout, result.stderr)

    return run
