"""The table from equations to functions to tests is true."""

import ast
import importlib
import inspect
import re
from functools import reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (\w+) \((\d+)\) \| .+ \| `([\w.]+):([\w.]+)` \| `([\w./]+)::([\w:]+)` \|$")
REQUIRED = {
    *(("ODP", n) for n in range(1, 24)),
    *(("EDRP", n) for n in range(1, 41)),
    *(("EDF", n) for n in range(1, 6)),
}


def rows():
    lines = (ROOT / "docs" / "paper_map.md").read_text().splitlines()
    table = [line for line in lines if line.startswith("| ") and not line.startswith(("| equation", "|---"))]
    matches = [ROW.match(line) for line in table]
    assert all(matches), [line for line, match in zip(table, matches, strict=True) if not match]
    return [(m[1], int(m[2]), m[3], m[4], m[5], m[6]) for m in matches if m]


def equations(docstring: str) -> set[tuple[str, int]]:
    """What the tags of a docstring name: `[EDRP, eq. 5, 7; ODP, eq. 1]`, also with ranges `5-7`."""
    found = set()
    for tag in re.findall(r"\[((?:[A-Z]\w+, eq\. [^\];]+;? ?)+)\]", docstring):
        for part in tag.split(";"):
            paper, _, numbers = part.strip().partition(", eq. ")
            for piece in numbers.split(","):
                first, _, last = piece.strip().partition("-")
                found |= {(paper, n) for n in range(int(first), int(last or first) + 1)}
    return found


def tagged() -> dict[tuple[str, str], set[tuple[str, int]]]:
    """Every function and class under src with the equations its own docstring names."""
    found = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        tree = ast.parse(path.read_text())
        stack = [(node, "") for node in ast.iter_child_nodes(tree)]
        while stack:
            node, prefix = stack.pop()
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                name = f"{prefix}{node.name}"
                if named := equations(ast.get_docstring(node) or ""):
                    found[module, name] = named
                stack += [(child, f"{name}.") for child in ast.iter_child_nodes(node)]
    return found


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}-{row[1]}-{row[3]}")
def test_every_row_names_a_function_that_cites_the_equation_and_a_test_that_exists(row):
    paper, number, module, function, file, test = row
    found = reduce(getattr, function.split("."), importlib.import_module(module))
    docstring = inspect.getdoc(found.fget if isinstance(found, property) else found) or ""
    assert (paper, number) in equations(docstring)
    tree = ast.parse((ROOT / file).read_text())
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert set(test.split("::")) <= names


def test_every_equation_that_must_be_there_is_there():
    assert {(paper, number) for paper, number, *_ in rows()} >= REQUIRED


def test_every_tag_in_the_code_is_in_the_table():
    table = {(paper, number, module, function) for paper, number, module, function, *_ in rows()}
    missing = [
        (paper, number, module, function)
        for (module, function), named in tagged().items()
        for paper, number in named
        if (paper, number, module, function) not in table
    ]
    assert not missing
