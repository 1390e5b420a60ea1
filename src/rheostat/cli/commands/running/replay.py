"""`rheostat replay`: decides a journal again, and shows the first difference."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rheostat.cli.output import Complaint, ExitCode, WrongUse, answer_json, say
from rheostat.cli.session.run_journal import journal_of
from rheostat.cli.session.running_application import AsJson, Directory, find_directory
from rheostat.control.history.explanation import clock_time
from rheostat.control.history.journal import MemoryJournal, from_line
from rheostat.control.history.replay_run import NotReplayable, ReplayResult, replay_run
from rheostat.control.loop.ports import JournalReader
from rheostat.errors import InvalidModel

app = typer.Typer(add_completion=False)


@app.command()
def replay(
    journal: Annotated[
        Path | None, typer.Argument(help="A journal that rheostat simulate --journal wrote; else that of a run.")
    ] = None,
    *,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Decide the journal of a run again, and show the first difference.

    Every decision is taken from what was seen then, with the policies and settings that the journal holds. Nothing is
    changed, and nothing needs to run. The exit code is 0 if all decisions are the same, and 1 at the first difference.
    Decisions of another version of Rheostat may differ. Plans under a time limit may differ from machine to machine.
    """
    with _opened(journal, directory) as entries:
        began = next((entry.at_seconds for _, entry in entries.read()), 0.0)
        result = _replayed(entries)
    found = result.difference
    if as_json:
        told = None if found is None else {**asdict(found), "seconds": round(found.at_seconds - began, 3)}
        answer_json(ok=found is None, decided=result.decided, skipped=result.skipped, difference=told)
    elif found is None:
        say(f"{result.decided} decisions were taken again, all the same{_left_out(result)}")
    else:
        after = clock_time(found.at_seconds - began)
        say(
            f"decision {found.number} of the {found.by} differs, {after} after the start",
            f"  decided       {found.then}",
            f"  would decide  {found.now}",
            f"{result.decided - 1} decisions before it are the same{_left_out(result)}",
        )
    raise typer.Exit(ExitCode.FINE if found is None else ExitCode.NO)


def _left_out(result: ReplayResult) -> str:
    return f"; {result.skipped} could not be taken again" if result.skipped else ""


def _replayed(journal: JournalReader) -> ReplayResult:
    try:
        return replay_run(journal)
    except NotReplayable as why:
        raise WrongUse(Complaint(str(why))) from why
    except InvalidModel as wrong:
        remedy = "a policy that a simulation gave its knowledge cannot be replayed"
        raise WrongUse(Complaint(f"the policies of this journal cannot be made from it: {wrong}", remedy)) from wrong


@contextmanager
def _opened(lines: Path | None, directory: Path | None) -> Iterator[JournalReader]:
    if lines is None:
        with journal_of(find_directory(directory)) as journal:
            yield journal
        return
    if directory is not None:
        raise WrongUse(Complaint("a journal and --directory are given", "give one of them"))
    found = MemoryJournal()
    try:
        for line in lines.read_text(encoding="utf-8").splitlines():
            found.append(from_line(line))
    except (OSError, ValueError, LookupError, TypeError) as wrong:
        remedy = "give a file that rheostat simulate --journal wrote"
        raise WrongUse(Complaint(f"{lines} cannot be read: {wrong}", remedy)) from wrong
    yield found
