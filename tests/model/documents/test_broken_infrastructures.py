import pytest
from tests.model.documents.told import assert_told

TWO_NODES = """\
kind: infrastructure
name: lab
nodes:
  - name: n1
  - name: n2
"""

BROKEN = {
    "no nodes": """\
kind: infrastructure
name: lab
nodes: [] #! there is no node | declare at least one
""",
    "nodes are missing": """\
kind: infrastructure #! 'nodes' is missing | write nodes
name: lab
""",
    "nodes are no list": """\
kind: infrastructure
name: lab
nodes: {n1: 4} #! nodes must be a list, not a mapping | after a dash
""",
    "a node's numbers are out of range": """\
kind: infrastructure
name: lab
nodes:
  - name: n1
    speedup: 0 #! 0.0 is not a finite number > 0 | 1 is the reference
    availability: 1.01 #! 1.01 is not a probability | > 0 and <= 1
    resources: -1 #! -1.0 is not a finite number >= 0
    worker_slots: -1 #! -1 is not
    executors_per_slot: 1.5 #! executors_per_slot must be a whole number, not 1.5
    price_per_hour: .inf #! inf is not
    spawn_seconds: .nan #! nan is not
  - name: n2
    availability: 0 #! 0.0 is not a probability
""",
    "a name is used twice": TWO_NODES
    + """\
  - region: milan
    name: n1 #! 'n1' is used twice | rename one node
""",
    "an unknown key": TWO_NODES
    + """\
    speed_up: 2 #! 'speed_up' is unknown | did you mean 'speedup'?
""",
    "links to unknown nodes": TWO_NODES
    + """\
  - name: gateway
links:
  - {from: n1, to: gatewy} #! there is no node 'gatewy' | did you mean 'gateway'?
  - from: xx #! there is no node 'xx' | known are: gateway, n1, n2
    to: n2
""",
    "links with wrong numbers": TWO_NODES
    + """\
links:
  - from: n1
    to: n2
    delay_ms: -1 #! -1.0 is not a finite number >= 0
    transfer_mbps: 0 #! 0.0 is not a number > 0
    price: free #! price must be a number, not 'free'
    availability: 2 #! 2.0 is not a probability
    bandwidth_tps: .nan #! nan is not a number > 0
    both_ways: 1 #! both_ways must be true or false, not 1
""",
    "a wrong default is told once, not at every link": TWO_NODES
    + """\
default_link:
  delay_ms: -3 #! -3.0 is not a finite number >= 0
  bandwidth: 3 #! 'bandwidth' is unknown | did you mean 'bandwidth_tps'?
links:
  - {from: n1, to: n2}
""",
    "a link without ends": TWO_NODES
    + """\
links:
  - delay_ms: 3 #! 'from' is missing | write from: n1 #! 'to' is missing | write to: n2
""",
    "a network that falls apart": TWO_NODES
    + """\
  - name: n3 #! no links lead from 'n1' to 'n3' and back | add a link
  - name: n4
  - name: n5 #! no links lead from 'n1' to 'n5' and back
links:
  - {from: n1, to: n2}
  - {from: n3, to: n4}
""",
    "a link that leads there but not back": """\
kind: infrastructure
name: lab
nodes:
  - name: n1
    speedup: -1 #! -1.0 is not a finite number > 0
  - name: n2 #! no links lead from 'n1' to 'n2' and back | add a link
links:
  - {from: n1, to: n2, both_ways: false}
""",
    "a node without name may be joined by any link": TWO_NODES
    + """\
  - region: milan #! 'name' is missing | write name: n1
links:
  - {from: n1, to: n2}
""",
    "links and a matrix": TWO_NODES
    + """\
links: #! links and a delay matrix are both given | remove one
  - {from: n1, to: n2}
delays_ms: [[0, 1], [1, 0]]
""",
    "a matrix with a row too few": TWO_NODES
    + """\
delays_ms: #! the matrix has 1 rows for 2 nodes | one row for each node
  - [0, 1]
""",
    "a matrix with rows of wrong length": TWO_NODES
    + """\
delays_ms:
  - [0, 1, 2] #! row 1 has 3 entries for 2 nodes | one entry for each node
  - [0] #! row 2 has 1 entries for 2 nodes
""",
    "a matrix with wrong entries": TWO_NODES
    + """\
  - name: n3
delays_ms:
  - [0, .nan, 1] #! row 1, column 2 (n1 to n2): nan is not a finite delay >= 0 | milliseconds
  - [-1, .nan, 1] #! row 2, column 1 (n2 to n1): -1.0 is not a finite delay
  - - fast #! row 3 column 1 must be a number, not 'fast'
    - .inf #! row 3, column 2 (n3 to n2): inf is not
    - 0
""",
    "a matrix that is none": TWO_NODES
    + """\
delays_ms:
  - 5 #! row 1 must be a list, not 5
  - [1, 0]
""",
    "a store on an unknown node, too slow": TWO_NODES
    + """\
store:
  at: n11 #! there is no node 'n11' | did you mean 'n1'?
  delay_ms: -1 #! -1.0 is not a finite number >= 0
  transfer_mbps: 0 #! 0.0 is not > 0
  local_mbps: x #! local_mbps must be a number, not 'x'
""",
    "a store that is a name": TWO_NODES
    + """\
store: n1 #! store must be a mapping, not 'n1' | key: value
""",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_every_mistake_is_told_at_its_line_and_nothing_more(text, tmp_path):
    assert_told(tmp_path / "network.yaml", text)
