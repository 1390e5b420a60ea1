"""The folder of a run, told apart from folders of the user by a marker."""

from pathlib import Path

from rheostat.errors import RuntimeFault
from rheostat.machine.private_files import write_private
from rheostat.runtime.plan.run_paths import RunPaths

MARKER = "rheostat-run.json"
FORMAT = 1


def claim_run_folder(folder: Path, application: str) -> None:
    """Marks a folder as a run's, made if it is missing. RuntimeFault if it holds other files; it is left as it was."""
    if (folder / MARKER).exists() or RunPaths(folder).journal.exists():
        return
    if folder.exists() and not folder.is_dir():
        raise RuntimeFault(f"{folder} is a file: give a new or empty folder with --directory")
    # What is left of a marker that was being written when its process died is no file of the user.
    if held := sorted({path.name for path in folder.glob("*")} - {f"{MARKER}.tmp"}):
        names = ", ".join(held[:3]) + (", ..." if len(held) > 3 else "")
        raise RuntimeFault(
            f"{folder} holds files that are not of a run ({names}) and was left as it is: "
            "give a new or empty folder with --directory"
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_private(folder / MARKER, {"format": FORMAT, "application": application})
