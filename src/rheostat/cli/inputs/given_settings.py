"""Settings of a run, each with the place where it was given: an option, or a line of a `kind: run` document."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rheostat.cli.output import Complaint, WrongUse, complaints_of
from rheostat.errors import InvalidDocument, InvalidModel, Mistake, RheostatError
from rheostat.model.documents import Document, read
from rheostat.model.run_settings import RunSettings
from rheostat.reference import APPLICATIONS, NETWORKS

OPTION = re.compile(r"--([a-z][a-z-]*)")
WITH_VALUE = re.compile(r"--([a-z][a-z-]*) (?!requires\b|and\b|or\b|with\b)(?=\w)")
CONTROL_KEYS = {
    "kind": ("control",),
    "granting": ("global",),
    "period_seconds": ("period",),
    "settle_seconds": ("settle",),
    "latency_bounds_ms": ("bound",),
}
"""Keys of a run's document, by the fields of `ControlSettings` they become."""
KIND_RUN = re.compile(r"^kind:\s*['\"]?run\b", re.MULTILINE)
YAML = (".yaml", ".yml")
PATHS = ("infrastructure", "deployment", "objective", "directory", "profile", "learned")


@dataclass(frozen=True, slots=True)
class GivenSettings:
    """The settings of a run, and the document that some of them stand in."""

    settings: RunSettings
    document: Document | None = None
    options: frozenset[str] = frozenset()
    """Keys that were given as options; they win over the document."""

    @property
    def root(self) -> Path:
        """The folder that modules of the application are looked for in."""
        return Path() if self.document is None else self.document.path.parent

    def complaints_of(self, error: RheostatError) -> tuple[Complaint, ...]:
        """An error in lines, each at the place where it must be mended."""
        if isinstance(error, InvalidModel) and error.subject == "control settings" and self.document is not None:
            return tuple(self._of_control(mistake) for mistake in error.mistakes)
        return tuple(self._located(complaint) for complaint in complaints_of(error))

    def _of_control(self, mistake: Mistake) -> Complaint:
        name, *rest = (str(part) for part in mistake.where)
        if name in ("policy", "granting") and rest and rest != ["name"]:
            path: tuple[str, ...] = ("set" if name == "policy" else "global_set", *rest)
        elif name in ("policy", "granting"):
            path = ("policy" if name == "policy" else "global",)
        else:
            path = (*CONTROL_KEYS.get(name, ("control_set", name)), *rest)
        plain = Complaint(f"{path[-1]}: {mistake.what}", mistake.remedy or None, "control settings")
        return self._at(path, plain) or plain

    def _located(self, complaint: Complaint) -> Complaint:
        option = OPTION.match(complaint.what)
        if option is None:
            return complaint
        key = option[1].replace("-", "_")
        inner = self.settings.given().get(key)
        named = next((name for name in inner if name in complaint.what), None) if isinstance(inner, dict) else None
        found = self._at((key,) if named is None else (key, named), complaint)
        return complaint if found is None else found

    def _at(self, path: tuple[str, ...], complaint: Complaint) -> Complaint | None:
        """The complaint at a line of the document; None if it is about an option."""
        document = self.document
        if document is None or path[0] in self.options or document.written is None:
            return None
        if document.written.at(path[:1]) is None:
            return None
        remedy = None if complaint.remedy is None else in_document(complaint.remedy)
        return Complaint(in_document(complaint.what), remedy, str(document.path), document.line_of(path))


def in_document(text: str) -> str:
    """A message about options as a message about keys of a document.

    >>> in_document("--global-set requires --control, e.g. --control edf")
    'global_set requires control, e.g. control: edf'
    """
    with_values = WITH_VALUE.sub(lambda found: f"{found[1].replace('-', '_')}: ", text)
    return OPTION.sub(lambda found: found[1].replace("-", "_"), with_values)


def given_settings(argument: str, options: RunSettings) -> GivenSettings:
    """The settings that an application, or a document of kind run, and the options describe."""
    keys = frozenset(options.given())
    document = run_document(argument)
    if document is None:
        return GivenSettings(options.over(RunSettings(application=argument)), None, keys | {"application"})
    return GivenSettings(options.over(beside(document)), document, keys)


def run_document(argument: str) -> Document | None:
    """The run that a file describes; None if the argument is no file, or a document of another kind."""
    path = Path(argument)
    if path.suffix not in YAML or not path.is_file():
        return None
    if KIND_RUN.search(path.read_text(encoding="utf-8", errors="replace")) is None:
        return None
    try:
        document = read(path)
    except InvalidDocument as error:
        raise WrongUse(*complaints_of(error)) from error
    return document if isinstance(document.value, RunSettings) else None


def beside(document: Document) -> RunSettings:
    """The settings of a run's document, with paths that start at the current directory and not at the document's."""
    if not isinstance(document.value, RunSettings):
        raise TypeError(f"no run is described by {document.path}")
    settings, folder = document.value, document.path.parent
    paths = {name: path for name in PATHS if (path := getattr(settings, name)) is not None}
    found: dict[str, Any] = {name: str(folder / path) for name, path in paths.items() if path not in NETWORKS}
    application = Path(settings.application or "")
    is_file = application.suffix in (".py", *YAML) or (folder / application).is_file()
    if is_file and settings.application not in APPLICATIONS:
        found["application"] = str(folder / application)
    return replace(settings, **found)
