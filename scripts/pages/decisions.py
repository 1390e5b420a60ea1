"""The index of decision records: `python -m scripts.pages.decisions` numbers new records and writes it."""

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"
NUMBERED = re.compile(r"(\d{4})-.+\.md")
PARTS = ("Area", "Context", "Decision", "Measured")


def records() -> list[Path]:
    """All records, by their numbers; those without one come last."""
    found = [path for path in FOLDER.glob("*.md") if path.name != "index.md"]
    return sorted(found, key=lambda path: (NUMBERED.fullmatch(path.name) is None, path.name))


def area_of(record: Path) -> str:
    """What part of Rheostat a record is about."""
    found = re.search(r"^Area: (.+)$", record.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else "Other"


def title_of(record: Path) -> str:
    """The decision in one line."""
    return record.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def index() -> str:
    """The page that links every record, by area."""
    areas: dict[str, list[Path]] = {}
    for record in records():
        areas.setdefault(area_of(record), []).append(record)
    lines = ["# Decisions", "", "Each record says why a decision was needed, what was decided and what was measured."]
    for area, found in areas.items():
        lines += ["", f"## {area}", ""]
        lines += [f"- [{record.name[:4]} {title_of(record)}]({record.name})" for record in found]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Gives every new record the next number, and writes the index."""
    numbers = [int(found[1]) for path in records() if (found := NUMBERED.fullmatch(path.name))]
    following = max(numbers, default=0) + 1
    for record in [path for path in records() if not NUMBERED.fullmatch(path.name)]:
        record.rename(record.with_name(f"{following:04d}-{record.name}"))
        following += 1
    (FOLDER / "index.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main()
