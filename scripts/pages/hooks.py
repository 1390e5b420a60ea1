"""Hooks of mkdocs: pages from the code, and files of the repository's root that are pages, too."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File
from scripts.pages.cli_reference import cli_reference
from scripts.pages.documents_reference import documents_reference
from scripts.pages.rooms import rooms_page
from scripts.pages.settings_reference import settings_reference

ROOT = Path(__file__).parents[2]
GENERATED = {
    "reference/cli.md": cli_reference,
    "reference/settings.md": settings_reference,
    "reference/documents.md": documents_reference,
    "reference/rooms.md": rooms_page,
}
FROM_ROOT = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}


def on_files(files: Any, config: Any) -> Any:
    """Adds the generated pages, and those of the repository's root with their links as seen from the site."""
    for path, make in GENERATED.items():
        files.append(File.generated(config, path, content=make()))
    for path, name in FROM_ROOT.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, path, content=_as_seen_from_docs(text)))
    return files


def _as_seen_from_docs(text: str) -> str:
    here = {name: path for path, name in FROM_ROOT.items()}
    text = re.sub(r"\]\(docs/", "](", text)
    return re.sub(r"\]\((\w+\.md)\)", lambda found: f"]({here.get(found[1], found[1])})", text)
