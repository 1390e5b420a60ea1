"""Applications in Python: modules, attributes and files, and what is told of one that cannot be loaded."""

import sys

import pytest

from rheostat.cli.inputs.application_loader import is_python, load_application
from rheostat.cli.output import WrongUse

MODULE = """
from rheostat import App

def lines(spark):
    return spark

app = App("{name}")
app.source("lines", lines)
app.sink("out", reads="lines")
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with applications; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)
    (tmp_path / "market").mkdir()
    (tmp_path / "market" / "__init__.py").write_text(MODULE.format(name="of the package"))
    (tmp_path / "market" / "app.py").write_text(MODULE.format(name="of the module"))
    (tmp_path / "stall.py").write_text(MODULE.format(name="of the file").replace("app = ", "other = app = "))
    yield tmp_path
    for name in set(sys.modules) - known:
        if name.partition(".")[0] in ("market", "stall", "broken_market", "empty_market"):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("text", "name", "code"),
    [
        pytest.param("market.app", "of the module", "market.app:lines", id="a module with an attribute app"),
        pytest.param("market", "of the package", "market:lines", id="a package"),
        pytest.param("stall.other", "of the file", "stall:lines", id="an attribute behind a dot"),
        pytest.param("stall:other", "of the file", "stall:lines", id="an attribute behind a colon"),
        pytest.param("market/app.py", "of the module", "market.app:lines", id="a file below the current folder"),
    ],
)
def test_an_application_is_found(place, text, name, code):
    assert is_python(text, place)
    application = load_application(text, place)
    assert (application.name, application.operators[0].code) == (name, code)


def test_a_file_elsewhere_is_a_module_of_its_own_folder(place, tmp_path_factory):
    folder = tmp_path_factory.mktemp("else-where")
    (folder / "stall.py").write_text(MODULE.format(name="elsewhere"))
    assert load_application(str(folder / "stall.py"), place).operators[0].code == "stall:lines"


@pytest.mark.parametrize("text", ["words.yaml", "taxi", "markt", "missing.py", "a b"])
def test_documents_names_of_the_library_and_misspelled_words_are_no_python(place, text):
    assert not is_python(text, place)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        pytest.param("market.ap", "there is no module 'market.ap'", id="neither module nor attribute"),
        pytest.param("stall:othr", "did you mean 'other'?", id="no such attribute"),
        pytest.param("empty_market.py", "has no 'app' and no 'application'", id="a module without an application"),
        pytest.param("broken_market.py", "its module failed: ZeroDivisionError", id="a module that fails"),
        pytest.param("json.py", "the name 'json' belongs to another module", id="the name of another module"),
    ],
)
def test_what_cannot_be_loaded_is_told(place, text, what):
    (place / "empty_market.py").touch()
    (place / "json.py").touch()
    (place / "broken_market.py").write_text("1 / 0")
    with pytest.raises(WrongUse) as told:
        load_application(text, place)
    assert what in str(told.value)


def test_without_spark_the_remedy_is_the_extra(place):
    (place / "broken_market.py").write_text("import pyspark.nothing_like_it")
    with pytest.raises(WrongUse, match=r"pip install 'rheostat\[spark\]'"):
        load_application("broken_market.py", place)
