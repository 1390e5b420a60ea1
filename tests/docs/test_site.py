"""The site builds without a warning, and asks no other server for anything."""

import re
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `scripts/docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_of_the_navigation_is_there(site):
    wanted = re.findall(r": ([\w/]+)\.md$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(wanted) > 15
    assert [page for page in wanted if not (site / f"{page}.html").exists()] == []


def test_a_page_shows_what_its_generator_made(site):
    page = (site / "reference/cli.html").read_text(encoding="utf-8")
    assert "--until-drained" in page
    assert "max_replicas" in (site / "reference/documents.html").read_text(encoding="utf-8")


def test_the_python_reference_has_signatures_and_docstrings(site):
    page = (site / "reference/python.html").read_text(encoding="utf-8")
    assert "max_replicas" in page
    assert 'id="rheostat.app.App.sink"' in page


def test_no_page_loads_anything_from_another_server(site):
    loads = re.compile(
        r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//|<link[^>]+href=["']?https?://[^>]*stylesheet"""
    )
    foreign = [page.name for page in site.rglob("*.html") if loads.search(page.read_text(encoding="utf-8"))]
    assert foreign == []
