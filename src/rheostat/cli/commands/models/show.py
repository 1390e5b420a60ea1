"""`rheostat show`: an application, a network and a deployment, as tables or as a picture."""

import importlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from rheostat.cli.inputs.document_inputs import find_sound, of_type, only
from rheostat.cli.output import Complaint, WrongUse, answer_json, page, warn
from rheostat.cli.views.json_views import application_json, deployment_json, fragments_json, infrastructure_json
from rheostat.cli.views.tables import application_table, delay_table, fragment_table, node_table
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.fragments import Fragment, fragments
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.placed import Placed
from rheostat.model.quality.qos import resource_use

KINDS = ("application", "infrastructure", "deployment")

app = typer.Typer(add_completion=False)


@app.command()
def show(
    application: Annotated[str, typer.Argument(metavar="APPLICATION", help="A document, or a name such as taxi.")],
    infrastructure: Annotated[
        str | None, typer.Argument(metavar="INFRASTRUCTURE", help="A document, or a name such as ansnet.")
    ] = None,
    *,
    deployment: Annotated[str | None, typer.Option(help="Show this deployment, too.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw it into this file, too.")] = None,
    physical: Annotated[bool, typer.Option("--physical", help="Show which operators run as one query.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Show an application, a network, and a deployment.

    A name that is not a file but in the reference library (taxi, word-count, ansnet, ...) is taken from there.
    """
    shown = _shown(application, infrastructure, deployment)
    if physical and shown.fragments is None:
        raise WrongUse(Complaint("--physical needs a deployment", "add --deployment FILE"))
    if svg is not None:
        # First, since nothing may follow the answer: an error would be a second one.
        _draw(shown, svg)
    if as_json:
        _answer(shown, physical)
    else:
        _print(shown, physical)


@dataclass(frozen=True, slots=True)
class Shown:
    """The models that were given; None for those that were not."""

    application: Application | None
    infrastructure: Infrastructure | None
    deployment: Deployment | None

    def __post_init__(self) -> None:
        """Rejects a deployment of another application."""
        if self.deployment is not None and self.application is None:
            raise WrongUse(Complaint("a deployment says where operators run", "name their application, too"))
        self.placed  # noqa: B018 - made once to be checked

    @property
    def placed(self) -> Placed | None:
        """All three together."""
        if self.application is None or self.infrastructure is None or self.deployment is None:
            return None
        return Placed(self.application, self.infrastructure, self.deployment)

    @property
    def fragments(self) -> tuple[Fragment, ...] | None:
        """Operators that run as one query; None without a deployment."""
        if self.application is None or self.deployment is None:
            return None
        return fragments(self.application, self.deployment)


def _shown(application: str, infrastructure: str | None, deployment: str | None) -> Shown:
    positional = [argument for argument in (application, infrastructure) if argument is not None]
    given = find_sound(positional, KINDS, [deployment] if deployment is not None else [])
    wanted = of_type(given, Deployment) if deployment is None else only(given[-1], Deployment, "deployment")
    return Shown(of_type(given, Application), of_type(given, Infrastructure), wanted)


def _draw(shown: Shown, svg: Path) -> None:
    # Most of a second of matplotlib, for those who want a picture alone.
    drawing = importlib.import_module("rheostat.cli.pictures.picture")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        drawing.save_svg(drawing.PictureSubject(shown.application, shown.infrastructure, shown.deployment), svg)
    notes = sorted({str(warning.message) for warning in caught})
    warn(*(f"note: {note}" for note in notes), f"drawn: {svg}")


def _answer(shown: Shown, physical: bool) -> None:
    body: dict[str, Any] = {}
    if shown.application is not None:
        body["application"] = application_json(shown.application)
    if shown.infrastructure is not None:
        body["infrastructure"] = infrastructure_json(shown.infrastructure)
    if shown.deployment is not None:
        body["deployment"] = deployment_json(shown.deployment)
    if physical and shown.fragments is not None:
        body["fragments"] = fragments_json(shown.fragments)
    answer_json(ok=True, **body)


def _print(shown: Shown, physical: bool) -> None:
    console = page()
    if shown.application is not None:
        console.print(Text(f"application {shown.application.name}", "bold"))
        console.print(application_table(shown.application, shown.deployment))
    if shown.infrastructure is not None:
        use = None if shown.placed is None else resource_use(shown.placed)
        console.print(Text(f"\ninfrastructure {shown.infrastructure.name}", "bold"))
        console.print(node_table(shown.infrastructure, shown.deployment, use))
        console.print()
        console.print(delay_table(shown.infrastructure))
    if physical and shown.fragments is not None:
        console.print(Text("\nfragments: one query each on every one of its nodes", "bold"))
        console.print(fragment_table(shown.fragments))
