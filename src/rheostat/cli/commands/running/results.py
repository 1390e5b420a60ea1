"""`rheostat results`: the rows of a sink, while it runs or afterwards."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rheostat.cli.output import Complaint, WrongUse, answer_json, page, say
from rheostat.cli.session.running_application import AsJson, Directory, documents_of, find_directory
from rheostat.cli.views.tables import plain_table
from rheostat.model.graph.application import RESULTS_SINK, Application
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.runtime.channels.channel_store import open_channel
from rheostat.runtime.channels.observe.result_rows import ResultPart, last_rows, latest_rows, published
from rheostat.runtime.channels.observe.results_file import SUFFIXES, common_schema, plain, write_results
from rheostat.runtime.plan.run_paths import RunPaths

app = typer.Typer(add_completion=False)


@app.command()
def results(
    sink: Annotated[str | None, typer.Argument(help="Which sink; not needed if there is only one.")] = None,
    *,
    last: Annotated[int, typer.Option(min=0, help="How many rows are shown, the last ones.")] = 20,
    latest_by: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Only the last row of each of its values.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write all of them to a file that ends in .parquet, .csv or .jsonl.")
    ] = None,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Show or save the rows that a sink has received.

    Every row exactly once, in the order in which rows were published, also while the application runs. Where rows
    replace earlier ones of the same key (output mode update), --latest-by KEY leaves those that stand. Sinks that
    write elsewhere keep nothing here.
    """
    place = find_directory(directory)
    name = _sink(documents_of(place)[0], sink)
    if output is not None and output.suffix not in SUFFIXES:
        raise WrongUse(Complaint(f"{output} does not say what to write", f"let it end in {', '.join(SUFFIXES)}"))
    folder = RunPaths(place).results(name)
    parts = published(open_channel(str(folder))) if folder.exists() else []
    columns = _columns(parts, latest_by or [])
    standing = latest_rows(parts, latest_by) if latest_by and parts else None
    count = sum(part.rows for part in parts) if standing is None else standing.num_rows
    if output is not None:
        if not parts:
            raise WrongUse(Complaint(f"{name} has received nothing yet", "nothing is written; look again later"))
        tables = (part.read() for part in parts) if standing is None else iter([standing])
        write_results(tables, common_schema(part.schema() for part in parts), output)
        told: dict[str, Any] = {"output": str(output)}
    else:
        shown = last_rows(parts, last) if standing is None else standing.slice(max(0, count - last))
        told = {"rows": plain(shown.to_pylist())}
    if as_json:
        answer_json(ok=True, directory=str(place), sink=name, count=count, columns=columns, **told)
    elif output is not None:
        say(f"written: {count:,} rows of {name} to {output}")
    else:
        _show(name, count, columns, told["rows"])


def _sink(application: Application, wanted: str | None) -> str:
    """The sink that the user means; WrongUse if its rows are not kept."""
    kept = [operator.name for operator in application.operators if operator.code == RESULTS_SINK]
    if wanted in kept:
        return wanted
    if wanted is None and len(kept) == 1:
        return kept[0]
    if not kept:
        raise WrongUse(Complaint(f"no sink of {application.name} keeps its rows here", "look where its sinks write"))
    if wanted is None:
        raise WrongUse(Complaint(f"several sinks keep their rows: {', '.join(kept)}", "say which"))
    if wanted in application.by_name:
        raise WrongUse(Complaint(f"{wanted} does not keep rows here", f"those that do: {', '.join(kept)}"))
    raise WrongUse(Complaint(f"there is no sink {wanted!r}", did_you_mean(wanted, kept)))


def _columns(parts: list[ResultPart], asked: list[str]) -> list[str]:
    columns = list(parts[-1].schema().names) if parts else []
    if columns and (unknown := [name for name in asked if name not in columns]):
        raise WrongUse(*(Complaint(f"there is no column {name!r}", did_you_mean(name, columns)) for name in unknown))
    return columns


def _show(name: str, count: int, columns: list[str], rows: list[dict[str, Any]]) -> None:
    if not count:
        say(f"{name} has received nothing yet")
        return
    table = plain_table(*columns, wraps=columns)
    for row in rows:
        table.add_row(*("" if row[column] is None else str(row[column]) for column in columns))
    page().print(table)
    say(f"{count:,} rows" if len(rows) == count else f"the last {len(rows):,} of {count:,} rows")
