"""Names and words: each name means one thing, and a module's docstring begins by naming the subject."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "rheostat"
MODULES = sorted(SOURCES.rglob("*.py"))
THINGS = {
    "annealing": "simulated annealing, the method",
    "doubling": "the doubling policy of Elastic Storm, by its name",
    "q_learning": "Q-learning, the method",
    "recording": "a recording: what was measured of a run",
    "udf_timing": "the timing of users' functions, as accumulators",
}
"""File names that end in -ing and name a thing all the same."""
CLAUSES = re.compile(
    r"(What|Who|Whom|Whose|How|Where|When|Why|Which|If|Whether|That|Whatever|Whoever|Because|Is|Are|Does|Do|Can|Has)\b"
)
SWEEPING = re.compile("whoever|somebody|nobody|anybody|everybody", re.IGNORECASE)
SWEEPING_PLACES = 10
LONGEST_FILE, MOST_FILES, DEEPEST = 400, 16, 3
SHORTEST_MEDIAN, LONGEST_MEDIAN = 60, 130


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def short(path: Path) -> str:
    return str(path.relative_to(SOURCES))


def test_no_two_classes_have_one_name():
    found = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(short(path))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_no_two_files_have_one_name():
    names = Counter(path.stem for path in MODULES if path.stem not in {"__init__", "__main__"})
    assert [name for name, times in names.items() if times > 1] == []


def test_a_file_name_that_ends_in_ing_names_a_thing():
    assert {path.stem for path in MODULES if path.stem.endswith("ing")} == set(THINGS)


def test_the_docstring_of_a_module_begins_with_a_noun_or_verb_phrase():
    first = {short(path): (ast.get_docstring(tree(path)) or "").partition("\n")[0] for path in MODULES}
    assert {name: line for name, line in first.items() if not line or "?" in line or CLAUSES.match(line)} == {}


def test_sentences_name_their_subject():
    documents = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    places = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in [*SOURCES.rglob("*.py"), *SOURCES.rglob("*.java"), *documents]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if SWEEPING.search(line)
    ]
    assert len(places) <= SWEEPING_PLACES, places


def test_files_are_short():
    lines = {short(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: length for name, length in lines.items() if length > LONGEST_FILE} == {}
    usual = median(length for name, length in lines.items() if not name.endswith("__init__.py"))
    assert SHORTEST_MEDIAN <= usual <= LONGEST_MEDIAN


def test_a_room_has_few_files_and_lies_at_most_three_levels_deep():
    files = Counter(path.parent for path in MODULES if path.name != "__init__.py")
    assert {short(room): number for room, number in files.items() if number > MOST_FILES} == {}
    assert [short(room) for room in files if len(room.relative_to(SOURCES).parts) > DEEPEST] == []
