"""Reader of YAML documents into model values; reports every mistake in a file at once, each with its line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, cast

from rheostat.errors import InvalidDocument, InvalidModel, Located, Mistake
from rheostat.model.documents.networks.delay_csv import read_delay_matrix
from rheostat.model.documents.networks.topology import read_topology
from rheostat.model.documents.shapes.application_checks import application_mistakes
from rheostat.model.documents.shapes.application_shape import ApplicationShape
from rheostat.model.documents.shapes.deployment_shape import DeploymentShape, deployment_mistakes
from rheostat.model.documents.shapes.infrastructure_checks import infrastructure_mistakes
from rheostat.model.documents.shapes.infrastructure_shape import InfrastructureShape
from rheostat.model.documents.shapes.objective_shape import EdrpShape, OdpShape, objective_mistakes
from rheostat.model.documents.shapes.run_shape import RunShape, run_mistakes
from rheostat.model.documents.text.mend import Mending, already_reported
from rheostat.model.documents.text.shape import keys_of
from rheostat.model.documents.text.text_files import text_of
from rheostat.model.documents.text.word_guess import closest_word
from rheostat.model.documents.text.written import Path, Written
from rheostat.model.documents.text.yaml_lines import parse
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.objective import Objective
from rheostat.model.run_settings import RunSettings

KINDS = ("application", "infrastructure", "objective", "deployment", "run")
Value = Application | Infrastructure | Objective | Deployment | RunSettings
TEXT = FilePath("text")
"""Stands for the file of a document that was not read from one."""
_ONE_OF = f"write kind: {', '.join(KINDS[:-1])} or {KINDS[-1]}"


@dataclass(frozen=True, slots=True)
class Document:
    """A document read from a file: its kind, its value and its lines."""

    kind: str
    """application, infrastructure, objective, deployment or run."""
    value: Value
    path: FilePath
    written: Written | None = field(default=None, repr=False, compare=False)
    """The document with its line numbers; None if it is not YAML."""

    def line_of(self, where: Path) -> int:
        """Line on which the value at a path is described."""
        return self.written.line_of(where) if self.written is not None else 1


@dataclass(frozen=True, slots=True)
class _Form:
    """Reading rules of one kind of document: its schema, and the check of its meaning."""

    shape: type[Any]
    mistakes: Callable[[Any, dict[Path, Mistake]], list[Mistake]]


_FORMS: Mapping[str, _Form] = {
    "application": _Form(ApplicationShape, application_mistakes),
    "infrastructure": _Form(InfrastructureShape, infrastructure_mistakes),
    "deployment": _Form(DeploymentShape, deployment_mistakes),
    "edrp": _Form(EdrpShape, objective_mistakes),
    "odp": _Form(OdpShape, objective_mistakes),
    "run": _Form(RunShape, run_mistakes),
}


def read(path: FilePath) -> Document:
    """The document in a file: YAML of any kind, or a network as GraphML or as a CSV matrix of delays."""
    return _read(path, None)


def read_application(path: FilePath) -> Application:
    """The application in a file."""
    return cast(Application, _read(path, "application").value)


def application_of(text: str) -> Application:
    """The application in a text, as `write` gives it."""
    return cast(Application, _document(text, TEXT, "application").value)


def infrastructure_of(text: str) -> Infrastructure:
    """The infrastructure in a text, as `write` gives it."""
    return cast(Infrastructure, _document(text, TEXT, "infrastructure").value)


def read_infrastructure(path: FilePath) -> Infrastructure:
    """The infrastructure in a file: YAML, GraphML or a CSV matrix of delays."""
    return cast(Infrastructure, _read(path, "infrastructure").value)


def read_objective(path: FilePath) -> Objective:
    """The objective in a file."""
    return cast(Objective, _read(path, "objective").value)


def read_deployment(path: FilePath) -> Deployment:
    """The deployment in a file."""
    return cast(Deployment, _read(path, "deployment").value)


def _read(path: FilePath, wanted: str | None) -> Document:
    networks = {".graphml": read_topology, ".csv": read_delay_matrix}
    if path.suffix.lower() in networks and wanted in (None, "infrastructure"):
        return Document("infrastructure", networks[path.suffix.lower()](path), path)
    return _document(text_of(path), path, wanted)


def _document(text: str, path: FilePath, wanted: str | None) -> Document:
    root, found = parse(text, str(path))
    if root is None or not isinstance(root.value, dict):
        raise InvalidDocument(found or [_no_mapping(path, root)])
    reading = _Reading(path, root, found)
    kind = reading.word("kind", KINDS, wanted)
    form = reading.word("form", ("edrp", "odp"), None) if kind == "objective" else kind
    if kind is None or form is None:
        raise InvalidDocument(found)
    return Document(kind, reading.value(kind, form), path, root)


def _no_mapping(path: FilePath, root: Written | None) -> Located:
    if root is None or root.value is None:
        return Located(str(path), 1, "the file is empty", _ONE_OF)
    return Located(str(path), root.line, "a document must be a mapping", f"{_ONE_OF}, then key: value pairs")


@dataclass(frozen=True, slots=True)
class _Reading:
    """State of reading one document, with the mistakes found so far."""

    path: FilePath
    root: Written
    found: list[Located]

    def word(self, key: str, words: Sequence[str], wanted: str | None) -> str | None:
        """The kind (or form) of the document; a wrong one is reported and guessed, so that the rest is checked too."""
        self._respell(key)
        written, line = self.root.at((key,)), self.root.line_of((key,))
        if written is None:
            self._report(line, f"the key {key!r} is missing", f"write {key}: {wanted or ' or '.join(words)}")
            return wanted or self._guess(words)
        if written.value in words and wanted in (None, written.value):
            return str(written.value)
        if written.value in words:
            self._report(line, f"this is a document of {key} {written.value}, not {wanted}", "give another file")
            raise InvalidDocument(self.found)
        self._report(line, f"the {key} {written.text!r} is unknown", did_you_mean(written.text, words))
        return wanted or closest_word(written.text, words) or self._guess(words)

    def value(self, kind: str, form: str) -> Value:
        """The value of the document; raises InvalidDocument with every mistake."""
        mending = Mending(_FORMS[form].shape, self.root)
        mending.data |= {"kind": kind} if kind == form else {"kind": kind, "form": form}
        shape = mending.read()
        meant = [
            m for m in _FORMS[form].mistakes(shape, mending.reported) if not already_reported(m.where, mending.reported)
        ]
        self._locate([*mending.reported.values(), *meant])
        if self.found:
            raise InvalidDocument(self.found)
        try:
            return cast(Value, shape.value())
        except InvalidModel as error:
            self._locate(error.mistakes)
            raise InvalidDocument(self.found) from error

    def _report(self, line: int, what: str, remedy: str) -> None:
        self.found.append(Located(str(self.path), line, what, remedy))

    def _locate(self, mistakes: Sequence[Mistake]) -> None:
        for mistake in mistakes:
            self._report(self.root.line_of(mistake.where), mistake.what, mistake.remedy)

    def _keys(self) -> list[str]:
        return list(self.root.value) if isinstance(self.root.value, dict) else []

    def _respell(self, key: str) -> None:
        """Finds the key under a misspelled name, and reports the misspelling."""
        entries = self.root.value
        for name in self._keys() if key not in self._keys() else ():
            if isinstance(entries, dict) and closest_word(name, [key]):
                self._report(entries[name].line, f"the key {name!r} is unknown", f"did you mean {key!r}?")
                entries[key] = entries.pop(name)
                return

    def _guess(self, words: Sequence[str]) -> str | None:
        """The kind whose keys these are; None if that is not clear."""
        shapes = {word: _FORMS[word].shape if word in _FORMS else OdpShape for word in words}
        given = [key for key in self._keys() if key not in ("kind", "name", "form")]
        fields = {word: keys_of(shape) for word, shape in shapes.items()}
        # A key that a kind requires tells more than one that it only allows.
        scores = {
            word: sum(1 + known[key].is_required() for key in given if key in known) for word, known in fields.items()
        }
        best = max(scores, key=lambda word: scores[word])
        return best if scores[best] > 0 and list(scores.values()).count(scores[best]) == 1 else None
