from pathlib import Path

import pytest
from tests.model.documents.told import expected

from rheostat.model.documents import Document, InvalidDocument, check_together, read

APPLICATION = """\
kind: application
name: app
operators:
  - {name: source, kind: source, pin: n1}
  - {name: parser, max_replicas: 3}
  - name: count
    candidates: [n1, n2]
streams: [source -> parser, parser -> count]
"""
NETWORK = """\
kind: infrastructure
name: lab
nodes: [{name: n1}, {name: n2}, {name: gateway}]
"""
DEPLOYMENT = """\
kind: deployment
operators:
  source: n1
  parser: {n1: 2, n2: 1}
  count: n2
"""


def documents(folder: Path, *texts: str) -> list[Document]:
    found = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.yaml"
        path.write_text(text)
        found.append(read(path))
    return found


def test_what_fits_together_is_accepted(tmp_path):
    check_together(documents(tmp_path, APPLICATION, NETWORK, DEPLOYMENT))
    check_together([])


BROKEN = {
    "pins and candidates outside of the infrastructure": (
        """\
kind: application
name: app
operators:
  - name: source
    kind: source
    pin: gatway #! there is no node 'gatway' | did you mean 'gateway'?
  - name: parser
    candidates:
      - n1
      - zz #! there is no node 'zz' | known are: gateway, n1, n2
streams: [source -> parser]
""",
        NETWORK,
    ),
    "unknown operators and nodes": (
        APPLICATION,
        NETWORK,
        """\
kind: deployment
operators:
  source: n1
  parsr: {n1: 2, n9: 1} #! there is no operator 'parsr' | did you mean 'parser'? #! there is no node 'n9' | known are
  count:
    n1x: 1 #! there is no node 'n1x' | did you mean 'n1'?
""",
    ),
    "operators that are missing, in the wrong place or too many": (
        APPLICATION,
        NETWORK,
        """\
kind: deployment
operators: #! operator 'parser' is not deployed | write parser: {node: replicas}
  source: n2 #! operator 'source' may not run on 'n2' | it may run on: n1
  count: {n1: 1, n2: 1} #! operator 'count' has 2 replicas | it takes 1 to 1
""",
    ),
    "a deployment without infrastructure": (
        APPLICATION,
        """\
kind: deployment
operators:
  source: n1
  parser: {anywhere: 4} #! operator 'parser' has 4 replicas | it takes 1 to 3
  count: n2
""",
    ),
    "a deployment without application": (
        NETWORK,
        """\
kind: deployment
operators:
  source: n1
  parser: {n2: 4, n3: 1} #! there is no node 'n3' | known are
""",
    ),
    "mistakes in two files": (
        """\
kind: application
name: app
operators:
  - {name: source, kind: source, pin: n8} #! there is no node 'n8'
""",
        NETWORK,
        """\
kind: deployment
operators:
  sorce: n1 #! there is no operator 'sorce' | did you mean 'source'?
""",
    ),
    "of several applications the one whose operators are deployed counts": (
        "kind: application\nname: other\noperators: [{name: x, kind: source}]\n",
        APPLICATION,
        NETWORK,
        """\
kind: deployment
operators: #! operator 'count' is not deployed
  source: n1
  parser: n1
""",
    ),
}


@pytest.mark.parametrize("texts", BROKEN.values(), ids=BROKEN.keys())
def test_what_does_not_fit_is_told_where_it_must_be_mended(texts, tmp_path):
    read_all = documents(tmp_path, *texts)
    with pytest.raises(InvalidDocument) as caught:
        check_together(read_all)
    wanted = [
        (str(document.path), *mark) for document, text in zip(read_all, texts, strict=True) for mark in expected(text)
    ]
    mistakes = caught.value.mistakes
    assert sorted((m.file, m.line) for m in mistakes) == [mark[:2] for mark in wanted], str(caught.value)
    for file, line, what, remedy in wanted:
        here = [m for m in mistakes if (m.file, m.line) == (file, line)]
        assert any(what in m.what and remedy in m.remedy for m in here), str(caught.value)
