"""`rheostat init`: a project of sound documents and an application that can be loaded; nothing is overwritten."""

import sys

import pytest

from rheostat.cli.inputs.application_loader import load_application


@pytest.fixture
def here(rheostat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)
    yield rheostat
    for name in set(sys.modules) - known:
        if name.partition(".")[0] == "my_shop":
            del sys.modules[name]


def test_it_writes_a_project_that_is_sound(here, tmp_path, monkeypatch):
    told = here("init", "my-shop", "--json").json
    assert told["files"] == [
        f"my-shop/{name}"
        for name in (
            "README.md", ".gitignore", "nodes.yaml", "run.yaml", "test_my_shop.py", "my_shop/__init__.py",
            "my_shop/app.py", "my_shop/answer.py",
        )
    ]  # fmt: skip
    assert all((tmp_path / name).is_file() for name in told["files"])
    assert told["commands"] == ["cd my-shop", "pytest", "rheostat run run.yaml"]
    monkeypatch.chdir(tmp_path / "my-shop")
    assert here("validate", "run.yaml", "nodes.yaml").code == 0
    application = load_application("my_shop/app.py", tmp_path / "my-shop")
    assert application.name == "my-shop"
    assert [operator.code.partition(":")[0] for operator in application.operators][:3] == ["my_shop.app"] * 3


def test_nothing_is_left_of_the_templates(here, tmp_path):
    here("init", "my-shop")
    texts = [path.read_text() for path in (tmp_path / "my-shop").rglob("*") if path.is_file()]
    assert len(texts) == 8
    assert not any("$" in text for text in texts)
    assert len((tmp_path / "my-shop/README.md").read_text().splitlines()) == 10


def test_nothing_is_overwritten(here, tmp_path):
    (tmp_path / "my-shop").mkdir()
    answer = here("init", "my-shop")
    assert (answer.code, answer.err) == (2, "my-shop already exists; give another name, or remove it\n")
    assert list((tmp_path / "my-shop").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "what"),
    [
        pytest.param("Shop", "cannot be the name", id="capitals"),
        pytest.param("../shop", "cannot be the name", id="a path"),
        pytest.param("2shops", "cannot be the name", id="a digit first"),
        pytest.param("shop-", "cannot be the name", id="an end that is no word"),
        pytest.param("class", "cannot be the name", id="a keyword"),
        pytest.param("json", "there is a Python module 'json' already", id="a module of Python"),
        pytest.param("numpy", "there is a Python module 'numpy' already", id="an installed package"),
    ],
)
def test_a_name_must_be_free_to_be_a_package(here, tmp_path, name, what):
    answer = here("init", name)
    assert answer.code == 2
    assert what in answer.err
    assert list(tmp_path.iterdir()) == []
