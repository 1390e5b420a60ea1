import pytest
from tests.model.documents.told import assert_told

BROKEN = {
    "no operators": """\
kind: deployment #! 'operators' is missing | write operators
""",
    "zero and negative replicas": """\
kind: deployment
operators:
  a:
    n1: 0 #! 0 replicas of 'a' on 'n1' | at least 1
    n2: -1 #! -1 replicas of 'a' on 'n2' | leave the node out
  b: {n1: 2}
""",
    "replicas that are no whole numbers": """\
kind: deployment
operators:
  a: {n1: 1.5} #! n1 must be a whole number, not 1.5
  b: {n1: two} #! n1 must be a whole number, not 'two'
  c: {n1: true} #! n1 must be a whole number, not true
  d: {n1: } #! n1 is empty
""",
    "an operator without replicas": """\
kind: deployment
operators:
  a: {} #! operator 'a' has no replicas | node: replicas
  b: #! b is empty | key: value
  c: [n1] #! c must be a mapping, not a list
""",
    "an operator that is there twice": """\
kind: deployment
operators:
  a: n1
  b: n1
  a: n2 #! the key 'a' is already on line 3 | remove one
""",
    "a list instead of a mapping": """\
kind: deployment
operators: #! operators must be a mapping, not a list
  - a: n1
""",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_every_mistake_is_told_at_its_line_and_nothing_more(text, tmp_path):
    assert_told(tmp_path / "deployment.yaml", text)
