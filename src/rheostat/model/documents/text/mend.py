"""Repair of invalid documents: each schema mistake is reported, then corrected by the most probable guess.

The repaired document is valid, so the semantic checks run in the same pass. A placeholder that had to be invented never
causes a second mistake: its path is among those reported.
"""

from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rheostat.errors import Mistake
from rheostat.model.documents.text.mistake_text import quoted, schema_mistake
from rheostat.model.documents.text.shape import keys_of, shape_at
from rheostat.model.documents.text.word_guess import closest_word
from rheostat.model.documents.text.written import Path, Written

S = TypeVar("S", bound=BaseModel)
_ROUNDS = 20
_STAND_INS: dict[str, Any] = {"float_type": 0.0, "int_type": 1, "string_type": "", "list_type": []}


class Unmendable(Exception):
    """A document with no valid part left to check."""


class Mending(Generic[S]):
    """Reads a document by its schema; collects its mistakes and repairs each."""

    def __init__(self, shape: type[S], root: Written) -> None:
        self.root, self.data = root, root.plain()
        self.reported: dict[Path, Mistake] = {}
        self._shape = shape

    def read(self) -> S:
        """The repaired document."""
        for _ in range(_ROUNDS):
            try:
                return self._shape.model_validate(self.data)
            except ValidationError as error:
                for problem in error.errors(include_url=False):
                    path = self._path(problem)
                    if not already_reported(path, self.reported):
                        self.reported[path] = schema_mistake(problem, path, self._shape)
                    self._mend(path, problem)
        raise Unmendable(f"after {_ROUNDS} rounds of mending there are still mistakes of the schema")

    def _path(self, problem: ErrorDetails) -> Path:
        """The path in the document: the location of the error without the tags of unions."""
        path: list[str | int] = []
        here, location = self.data, problem["loc"]
        for position, part in enumerate(location):
            inside = (isinstance(here, dict) and part in here) or (isinstance(here, list) and isinstance(part, int))
            if inside:
                here = here[part]
            if inside or position == len(location) - 1:
                path.append(part)
        if problem["type"] == "union_tag_invalid":
            path.append("model")
        return tuple(path)

    def _mend(self, path: Path, problem: ErrorDetails) -> None:
        kind, last = problem["type"], path[-1]
        around = self._around(path)
        if around is None:
            return
        if kind == "extra_forbidden":
            self._rename(around, path, problem)
        elif kind == "missing":
            around[last] = self._stand_in(path, problem)
        elif close := _closest(problem):
            around[last] = close
        elif kind == "union_tag_invalid":
            del self._around(path[:-1])[path[-2]]
        elif kind == "string_type" and not isinstance(problem["input"], list | dict | None):
            written = self.root.at(path)
            around[last] = written.text if written else str(problem["input"])
        elif isinstance(around, list):
            around[int(last)] = _STAND_INS.get(kind, {})
        else:
            around.pop(last, None)

    def _around(self, path: Path) -> Any:
        """The list or mapping that holds the value at a path; None if it has been removed."""
        here = self.data
        try:
            for part in path[:-1]:
                here = here[part]
        except (KeyError, IndexError, TypeError):
            return None
        return here if isinstance(here, dict | list) else None

    def _rename(self, around: dict[str, Any], path: Path, problem: ErrorDetails) -> None:
        key = str(path[-1])
        value = around.pop(key, None)
        owner = shape_at(self._shape, problem["loc"][:-1])
        meant = closest_word(key, keys_of(owner)) if owner else None
        if meant is not None and meant not in around:
            around[meant] = value
            self.root.add_alias(path, meant)

    def _stand_in(self, path: Path, problem: ErrorDetails) -> Any:
        if path[-1] in ("name", "from", "to"):
            return f"(unnamed {path[-1]} {'.'.join(str(part) for part in path[:-1])})"
        owner = shape_at(self._shape, problem["loc"][:-1])
        field = keys_of(owner).get(str(problem["loc"][-1])) if owner else None
        return field.examples[0] if field is not None and field.examples else None


def already_reported(path: Path, reported: dict[Path, Mistake]) -> bool:
    """Whether a mistake was reported already at this path or around it."""
    return any(path[:length] in reported for length in range(1, len(path) + 1))


def _closest(problem: ErrorDetails) -> str | None:
    """The allowed word that was probably meant; None if any value is allowed."""
    context = problem.get("ctx", {})
    if problem["type"] not in ("enum", "literal_error", "union_tag_invalid"):
        return None
    options = quoted(context.get("expected_tags") or context["expected"])
    return closest_word(str(context.get("tag", problem["input"])), options)
