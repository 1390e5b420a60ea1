"""Tables of the architecture page, made from the code: `python -m scripts.pages.architecture` writes them anew."""

import re
from pathlib import Path

from scripts.pages.ports import ports_table
from scripts.pages.rooms import fences, layer_table

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
BLOCKS = {"layers": layer_table, "fences": fences, "ports": ports_table}


def renewed(text: str) -> str:
    """The page with every block between its marks as the code is now."""
    for name, make in BLOCKS.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        pattern = re.compile(re.escape(begin) + r"\n.*?" + re.escape(end), re.DOTALL)
        block = f"{begin}\n\n{make()}\n\n{end}".replace("\\", "\\\\")
        text, found = pattern.subn(block, text)
        if found != 1:
            raise ValueError(f"{PAGE.name} has {found} blocks of {name}")
    return text


def main() -> None:
    """Writes the page."""
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
