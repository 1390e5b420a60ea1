"""`rheostat validate`: are these documents sound, each by itself and all together?"""

from typing import Annotated

import typer

from rheostat.cli.inputs.document_inputs import find_all
from rheostat.cli.output import ExitCode, answer_json, say
from rheostat.model.documents import Document

app = typer.Typer(add_completion=False)


@app.command()
def validate(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Documents, of any kind and in any order.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Check documents, each by itself and all together.

    Every mistake is told on a line of its own: file:line: what is wrong; what to write instead.
    """
    found = find_all(files)
    complaints = (*found.missing, *found.invalid)
    if as_json:
        documents = [{"file": str(one.path), "kind": one.kind, "name": _name(one)} for one in found.documents]
        answer_json(ok=not complaints, documents=documents, mistakes=complaints)
    elif complaints:
        say(*complaints)
    else:
        say(*(_line(one) for one in found.documents))
    if found.missing:
        raise typer.Exit(ExitCode.WRONG_USE)
    raise typer.Exit(ExitCode.NO if complaints else ExitCode.FINE)


def _name(document: Document) -> str | None:
    """What it calls itself; a deployment and an objective have no name."""
    return getattr(document.value, "name", None)


def _line(document: Document) -> str:
    return f"{document.path}: {document.kind} {_name(document) or ''}".rstrip() + " is sound"
