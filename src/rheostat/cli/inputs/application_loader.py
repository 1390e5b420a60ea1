"""Applications in Python: import paths, modules and files that hold an App."""

import importlib
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

from rheostat.cli.output import Complaint, WrongUse, complaints_of
from rheostat.errors import InvalidModel
from rheostat.model.graph.application import Application
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.reference import APPLICATIONS

MODULE = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*"
IMPORT_PATH = re.compile(rf"{MODULE}(:[A-Za-z_]\w*)?")
ATTRIBUTES = ("app", "application")
"""Names under which a module holds its application, if the import path names none."""
DOCUMENTS = (".yaml", ".yml")
SPARK_PACKAGES = ("pyspark", "pyarrow", "pandas")


def is_python(text: str, root: Path) -> bool:
    """Whether an argument stands for an application in Python, and not for a document or a name of the library."""
    path = Path(text)
    if path.suffix == ".py":
        return path.is_file()
    if path.is_file() or path.suffix in DOCUMENTS or text in APPLICATIONS or not IMPORT_PATH.fullmatch(text):
        return False
    make_importable(root)
    # A single word is more probably a misspelled name of the library than a module that is missing.
    return "." in text or ":" in text or importlib.util.find_spec(text) is not None


def load_application(text: str, root: Path) -> Application:
    """The application of a file, a module or an import path; modules are looked up below `root`, too."""
    make_importable(root)
    path = Path(text)
    if path.suffix == ".py":
        return _application_in(_import_file(path, root), "", text)
    name, _, attribute = text.partition(":")
    try:
        return _application_in(_imported(name, text), attribute, text)
    except WrongUse:
        # `shop.app` may be the attribute `app` of the module `shop`.
        package, _, last = name.rpartition(".")
        known = sys.modules.get(package)
        if attribute or known is None or not hasattr(known, last):
            raise
        return _application_in(known, last, text)


def make_importable(folder: Path) -> None:
    """Puts a folder first where modules are looked for, here and in the processes of all nodes."""
    place = str(folder.absolute())
    if place not in sys.path:
        sys.path.insert(0, place)


def _import_file(path: Path, root: Path) -> Any:
    """The module in a file, under the name that every node can import: below `root`, else beside the file."""
    absolute = path.absolute()
    parts = absolute.relative_to(root.absolute()).parts if absolute.is_relative_to(root.absolute()) else ()
    names = [*parts[:-1], path.stem]
    if not parts or not all(name.isidentifier() for name in names):
        make_importable(absolute.parent)
        names = [path.stem]
    if not names[-1].isidentifier():
        raise WrongUse(Complaint(f"{path.stem!r} is no name of a module", "use letters, digits and _", str(path)))
    module = _imported(".".join(names), str(path))
    if Path(module.__file__ or "").resolve() != absolute.resolve():
        what = f"the name {'.'.join(names)!r} belongs to another module, {module.__file__}"
        raise WrongUse(Complaint(what, "rename the file", str(path)))
    return module


def _imported(name: str, argument: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        remedy = "is it installed, or below the current directory?"
        if str(missing.name).partition(".")[0] in SPARK_PACKAGES:
            remedy = "pip install 'rheostat[spark]', and see rheostat doctor"
        raise WrongUse(Complaint(f"there is no module {missing.name!r}", remedy, argument)) from missing
    except Exception as failure:  # the user's module may raise anything
        what = f"its module failed: {type(failure).__name__}: {failure}"
        raise WrongUse(Complaint(what, None, argument)) from failure


def _application_in(module: Any, attribute: str, argument: str) -> Application:
    wanted = (attribute,) if attribute else ATTRIBUTES
    found = next((name for name in wanted if hasattr(module, name)), None)
    if found is None:
        known = [name for name in vars(module) if not name.startswith("_")]
        what = f"module {module.__name__} has no {' and no '.join(map(repr, wanted))}"
        remedy = did_you_mean(attribute, known) if attribute else "write app = App(...), or name it: module:attribute"
        raise WrongUse(Complaint(what, remedy, argument))
    return _built(getattr(module, found), argument)


def _built(found: Any, argument: str) -> Application:
    try:
        if callable(found):
            found = found()
        if hasattr(found, "build"):
            found = found.build()
    except InvalidModel as error:
        raise WrongUse(*complaints_of(error)) from error
    except Exception as failure:
        raise WrongUse(Complaint(f"it raised {type(failure).__name__}: {failure}", None, argument)) from failure
    if not isinstance(found, Application):
        what = f"this is a {type(found).__name__}, not an application"
        raise WrongUse(Complaint(what, "name an App, or a function that returns one", argument))
    return found
