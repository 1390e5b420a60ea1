"""Pages of the documentation, for tests."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OWN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


def pages() -> list[Path]:
    """All pages that are written by hand."""
    return [*OWN, *sorted(DOCS.rglob("*.md"))]


def text_of(name: str) -> str:
    """A page by its path in the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    """The path of a page in the repository, which names its test."""
    return page.relative_to(ROOT).as_posix()
