"""Pages use plain words, and every file and dotted name that they mention exists."""

import importlib
import re

import pytest

from tests.docs.pages import DOCS, ROOT, name_of, pages

BANNED = re.compile(r"\b(whoever|somebody|nobody|anybody|everybody)\b", re.IGNORECASE)
FOLDERS = "src|docs|tests|examples|experiments|benchmarks|scripts|schemas"
PATH = re.compile(rf"(?<![\w/.])(?:{FOLDERS})/[\w./-]*[\w/]")
DOTTED = re.compile(r"(?<![\w./])(rheostat(?:\.[A-Za-z_]\w*)+)(?::([\w.]+))?")
MODULE = re.compile(r"python -m ((?:experiments|benchmarks|scripts|examples)[\w.]+)")
NO_NAMES = {"rheostat.git"}


def every(pattern, page):
    """All matches in a page."""
    return pattern.finditer(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_a_page_names_its_subjects(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if BANNED.search(line)] == []


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_path_leads_to_a_file(page):
    found = {match[0].rstrip("/.") for match in every(PATH, page)}
    assert [path for path in found if not (ROOT / path).exists() and not path.startswith("docs/results/NAME")] == []


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_dotted_name_can_be_imported(page):
    for match in every(DOTTED, page):
        if match[1] not in NO_NAMES:
            assert resolved(match[1], match[2] or ""), match[0]


def resolved(dotted, attribute):
    """Whether a dotted name leads to a module or to something in one."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError as missing:
            if missing.name and not ".".join(parts[:length]).startswith(missing.name):
                raise
            continue
        for name in [*parts[length:], *filter(None, attribute.split("."))]:
            if not hasattr(value, name):
                return False
            value = getattr(value, name)
        return True
    return False


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_module_that_is_a_command_exists(page):
    names = {match[1].rstrip(".") for match in every(MODULE, page)}
    paths = [ROOT / name.replace(".", "/") for name in names]
    assert [path for path in paths if not path.with_suffix(".py").exists() and not path.is_dir()] == []


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_link_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    generated = {(DOCS / name).resolve() for name in GENERATED}
    targets = [(page.parent / link).resolve() for link in links]
    assert [str(target) for target in targets if not target.exists() and target not in generated] == []


GENERATED = ("reference/cli.md", "reference/settings.md", "reference/documents.md", "reference/rooms.md")


@pytest.mark.parametrize("page", sorted((DOCS / "results").glob("[!i]*.md")), ids=name_of)
def test_a_page_with_figures_says_at_which_commit_they_were_measured(page):
    assert re.search(
        r"^Measured at commit `[0-9a-f]{7,40}`, \d{4}-\d\d-\d\d\.$", page.read_text(encoding="utf-8"), re.MULTILINE
    )
