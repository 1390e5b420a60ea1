import pickle

import pytest
from tests.model.documents.told import assert_told, told

from rheostat.errors import RheostatError
from rheostat.model.documents import (
    InvalidDocument,
    Located,
    read,
    read_application,
    read_infrastructure,
)

SOUND = "kind: application\nname: app\noperators:\n  - {name: a, kind: source}\n"
LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)
LADDER = f"a: &a {'[' * 12}{']' * 12}\nb: &b {'[' * 12}*a{']' * 12}\nc: 1\nd: {'[' * 12}*b{']' * 12}\n"

UNREADABLE = [
    pytest.param("", 1, "the file is empty", "write kind: application", id="empty"),
    pytest.param("# only words\n", 1, "the file is empty", "write kind: application", id="only a comment"),
    pytest.param("---\n", 1, "the file is empty", "write kind", id="an empty document"),
    pytest.param("- a\n- b\n", 1, "must be a mapping", "write kind", id="a list"),
    pytest.param("\njust words\n", 2, "must be a mapping", "write kind", id="a text"),
    pytest.param(SOUND + "\tx: 1\n", 5, "not YAML", "spaces, not with tabs", id="a tab"),
    pytest.param("kind: application\nname: a: b\n", 2, "not YAML", "in quotes", id="two colons"),
    pytest.param("kind: application\nname: [a,\n  b\n", 2, "not YAML", "close the bracket", id="an open bracket"),
    pytest.param('kind: application\nname: "a\nx: 1\n', 2, "not YAML", "close the bracket or the quote", id="a quote"),
    pytest.param("kind: application\n  name: a\n", 2, "not YAML", "indentation", id="a wrong indentation"),
    pytest.param("kind: application\nname: a\x00b\n", 2, "'\\x00' is not text", "plain text", id="a null character"),
    pytest.param("x: " + "[" * 5000, 1, "nested more than 30 levels", "flatter", id="very deep"),
    pytest.param(LADDER, 4, "nested more than 30 levels", "flatter", id="deep by aliases"),
    pytest.param(LAUGHS, 5, "aliases expand this", "without aliases", id="a billion laughs"),
    pytest.param("kind: application\nname: *app\n", 2, "is called &app", "the value itself", id="an alias of nothing"),
    pytest.param("kind: &a\n  - b\n  - *a\n", 3, "complete is called &a", "value itself", id="an alias of itself"),
    pytest.param("kind: mystery\nfoo: 1\n", 1, "the kind 'mystery' is unknown", "known are: application", id="kind"),
    pytest.param("foo: 1\n", 1, "'kind' is missing", "application or infrastructure", id="no kind, nothing known"),
    pytest.param("kind: [a]\nfoo: 1\n", 1, "the kind '' is unknown", "known are", id="a kind that is a list"),
]


@pytest.mark.parametrize(("text", "line", "what", "remedy"), UNREADABLE)
def test_what_cannot_be_read_at_all_is_told_in_one_line(text, line, what, remedy, tmp_path):
    path = tmp_path / "doc.yaml"
    path.write_text(text, encoding="utf-8")
    ((at, message),) = told(path)
    assert at == line, message
    assert what in message.partition(" | ")[0]
    assert remedy in message.partition(" | ")[2]


READABLE = {
    "an unknown kind that looks like a known one": """\
kind: aplication #! the kind 'aplication' is unknown | did you mean 'application'?
name: app
operators: #! there is no source
  - name: a
""",
    "no kind, but one can see which": """\
name: net #! 'kind' is missing | write kind: application or infrastructure
nodes:
  - {name: n1, speedup: 0} #! 0.0 is not a finite number > 0
""",
    "a misspelled kind key": """\
knd: deployment #! 'knd' is unknown | did you mean 'kind'?
operators:
  a: {n1: 0} #! 0 replicas
""",
    "the same key twice": """\
kind: application
name: app
operators:
  - name: a
    kind: source
    name: b #! the key 'name' is already on line 4 | remove one
name: other #! the key 'name' is already on line 2 | remove one
""",
    "a tag that would run code": """\
kind: application
name: !!python/object/apply:os.system ["echo"] #! the tag 'tag:yaml.org,2002:python/object/apply:os.system' #! name must
operators:
  - {name: a, kind: !mine source} #! the tag '!mine' is not read | remove it
""",
    "a second document": """\
kind: application
name: app
operators: #! there is no source
  - name: a
--- #! a second document begins here | one document per file
kind: deployment
operators: {a: n1}
""",
    "a key that is a list": """\
kind: application
name: app
? [a, b] #! a key must be a plain name | one name before the colon
: 1
operators:
  - {name: a, kind: source}
""",
    "a merge key": """\
kind: application
name: app
operators:
  - &usual {name: a, kind: source}
  - <<: *usual #! the key '<<' is unknown | known are
    name: b
    kind: source
""",
}


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE.keys())
def test_what_can_be_read_is_checked_to_its_end(text, tmp_path):
    assert_told(tmp_path / "doc.yaml", text)


def test_a_file_that_is_not_there_is_looked_for_next_to_it(tmp_path):
    (tmp_path / "app.yaml").write_text(SOUND)
    ((line, message),) = told(tmp_path / "app.yml")
    assert (line, message) == (1, f"there is no such file | did you mean '{tmp_path / 'app.yaml'}'?")
    assert "there is no directory" in told(tmp_path / "nowhere" / "app.yml")[0][1]


def test_a_directory_is_no_document(tmp_path):
    assert told(tmp_path) == [(1, "this is a directory | name a file in it")]


@pytest.mark.parametrize("name", ["doc.yaml", "net.csv", "net.graphml"])
def test_garbage_is_no_text(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"kind: a\nname: b\n\xff\xfe\x00\x81")
    assert told(path) == [(3, "this is not text in UTF-8 | save the file as UTF-8 text")]


def test_a_document_of_another_kind_than_wanted(tmp_path):
    path = tmp_path / "doc.yaml"
    path.write_text(SOUND)
    with pytest.raises(InvalidDocument, match=r"doc.yaml:1: this is a document of kind application, not infra"):
        read_infrastructure(path)


def test_the_kind_that_is_wanted_is_taken_where_none_is_written(tmp_path):
    path = tmp_path / "doc.yaml"
    path.write_text("name: app\noperators: []\n")
    with pytest.raises(InvalidDocument) as caught:
        read_application(path)
    assert [(m.line, m.remedy) for m in caught.value.mistakes] == [
        (1, "write kind: application"),
        (2, "give one operator kind: source"),
    ]


def test_aliases_within_reason_are_read(tmp_path):
    path = tmp_path / "doc.yaml"
    path.write_text(
        "kind: application\nname: app\noperators:\n"
        "  - {name: a, kind: source, latency: &slow {model: mm1, service_rate_tps: 5}}\n"
        "  - {name: b, kind: source, latency: *slow}\n"
    )
    a, b = read_application(path).operators
    assert a.latency == b.latency


def test_a_mark_of_byte_order_does_not_matter(tmp_path):
    for name, text in (("doc.yaml", SOUND), ("net.csv", "a,a\na,0\n")):
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
        assert read(tmp_path / name).value
    assert read_infrastructure(tmp_path / "net.csv").nodes[0].name == "a"


def test_yaml_is_that_of_the_core_schema(tmp_path):
    """Only true and false are booleans, and 1e3 is a number."""
    path = tmp_path / "doc.yaml"
    path.write_text(
        "kind: application\nname: no\noperators:\n"
        "  - {name: on, kind: source, rate_tps: 1e3, parameters: {at: 2024-01-01, t: 12:30, x: 0x10, o: 0o10, y: ~}}\n"
    )
    with pytest.raises(InvalidDocument, match="single value"):
        read(path)
    path.write_text(path.read_text().replace(", y: ~", ""))
    (operator,) = read_application(path).operators
    assert (operator.name, operator.rate_tps) == ("on", 1000.0)
    assert operator.parameters == (("at", "2024-01-01"), ("t", "12:30"), ("x", 16), ("o", 8))


def test_mistakes_are_told_by_file_and_line_each_once():
    later, earlier = Located("b", 1, "x", "y"), Located("a", 10, "z")
    error = InvalidDocument([later, earlier, Located("a", 9, "w", "v"), later])
    assert str(error) == "a:9: w; v\na:10: z\nb:1: x; y"
    assert isinstance(error, RheostatError)
    assert pickle.loads(pickle.dumps(error)).mistakes == error.mistakes  # noqa: S301 - our own bytes
