"""`rheostat validate`: checks documents, each by itself and all together."""

import importlib
from typing import Annotated, Any

import typer

from rheostat.cli.inputs.document_inputs import find_all
from rheostat.cli.output import Complaint, ExitCode, answer_json, say
from rheostat.model.documents import Document
from rheostat.model.run_settings import RunSettings

app = typer.Typer(add_completion=False)


@app.command()
def validate(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Documents, of any kind and in any order.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Check documents, each by itself and all together.

    Every mistake is told on a line of its own: file:line: what is wrong; what to write instead. A run is checked with
    the documents that it names; an application in Python is not imported.
    """
    found = find_all(files)
    runs = [complaint for document in found.documents for complaint in _of_run(document)]
    complaints = (*found.missing, *found.invalid, *runs)
    if as_json:
        answer_json(ok=not complaints, documents=[_told(one) for one in found.documents], mistakes=complaints)
    elif complaints:
        say(*complaints)
    else:
        say(*(_line(one) for one in found.documents))
    if found.missing:
        raise typer.Exit(ExitCode.WRONG_USE)
    raise typer.Exit(ExitCode.NO if complaints else ExitCode.FINE)


def _of_run(document: Document) -> tuple[Complaint, ...]:
    """Mistakes in the documents and settings that a run names."""
    if not isinstance(document.value, RunSettings):
        return ()
    # Policies take a moment to load, for those who check a run alone.
    given = importlib.import_module("rheostat.cli.inputs.given_settings")
    checks = importlib.import_module("rheostat.cli.inputs.run_checks")
    found: tuple[Complaint, ...] = checks.complaints_about(given.GivenSettings(given.beside(document), document))
    return found


def _told(document: Document) -> dict[str, Any]:
    told = {"file": str(document.path), "kind": document.kind, "name": _name(document)}
    return told | ({"settings": document.value.given()} if isinstance(document.value, RunSettings) else {})


def _name(document: Document) -> str | None:
    """The name of what it describes; a deployment, an objective and a run have none."""
    return getattr(document.value, "name", None)


def _line(document: Document) -> str:
    return f"{document.path}: {document.kind} {_name(document) or ''}".rstrip() + " is sound"
