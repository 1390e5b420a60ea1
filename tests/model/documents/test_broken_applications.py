import pytest
from tests.model.documents.told import assert_told

SOURCE = """\
kind: application
name: app
operators:
  - {name: source, kind: source, rate_tps: 100}
"""

BROKEN = {
    "a name is missing": """\
kind: application #! 'name' is missing | write name: word-count
operators:
  - {name: source, kind: source}
""",
    "there are no operators": """\
kind: application #! 'operators' is missing | write operators
name: app
""",
    "the list of operators is empty": """\
kind: application
name: app
operators: [] #! there is no source | kind: source
""",
    "an operator has no name": SOURCE
    + """\
  - kind: stateless #! 'name' is missing | write name: count
    resources: 1
""",
    "an operator is no mapping": SOURCE
    + """\
  - count #! item 2 of operators must be a mapping | key: value
""",
    "a name is a number": SOURCE
    + """\
  - name: 5.10 #! name must be text, not 5.1 | in quotes
streams:
  - source -> 5.10
""",
    "a name is padded": SOURCE
    + """\
  - name: " count" #! empty or padded | plain name
streams:
  - {from: source, to: " count"}
""",
    "a name is used twice": SOURCE
    + """\
  - name: count
  - kind: sink
    name: count #! 'count' is used twice | rename one operator
streams:
  - source -> count
""",
    "an unknown key that looks like a known one": SOURCE
    + """\
  - name: count
    kind: stateful
    ky: word #! 'ky' is unknown | did you mean 'key'?
streams:
  - source -> count
""",
    "an unknown key that looks like nothing": SOURCE
    + """\
colour: blue #! 'colour' is unknown | known are: kind, name, operators, streams
""",
    "a misspelled key with a wrong value": SOURCE
    + """\
  - name: count
    resorces: much #! 'resorces' is unknown | did you mean 'resources'? #! resources must be a number, not 'much'
streams: [source -> count]
""",
    "an unknown kind of operator": """\
kind: application
name: app
operators:
  - name: source
    kind: sorce #! kind 'sorce' is unknown | did you mean 'source'?
    rate_tps: 10
""",
    "a kind of operator that nobody can guess": """\
kind: application
name: app
operators:
  - name: source
    kind: xyz #! kind 'xyz' is unknown | known are: sink, source, stateful, stateless
    rate_tps: 10
""",
    "an unknown output mode and an unknown grouping": SOURCE
    + """\
  - name: count
    kind: stateful
    key: [word]
    output_mode: updat #! output_mode 'updat' is unknown | 'update'
streams:
  - from: source
    to: count
    grouping: keyed #! grouping 'keyed' is unknown | did you mean 'key'?
""",
    "numbers that are text, booleans or nothing": """\
kind: application
name: app
operators:
  - name: source
    kind: source
    rate_tps: "100" #! rate_tps must be a number, not '100' | without quotes
    resources: true #! resources must be a number, not true | without quotes
    cost_per_hour: #! cost_per_hour is empty | write a number
    max_replicas: 2.5 #! max_replicas must be a whole number, not 2.5 | whole number
    min_replicas: yes #! min_replicas must be a whole number, not 'yes'
    code_bytes: [1] #! code_bytes must be a whole number, not a list
""",
    "numbers that are out of range": """\
kind: application
name: app
operators:
  - name: source
    kind: source
    rate_tps: -1 #! -1.0 is not a finite number >= 0 | write a number >= 0
    resources: .nan #! nan is not a finite number
    cost_per_hour: .inf #! inf is not a finite number
    code_bytes: -5 #! -5 is not
    state_bytes: -6 #! -6 is not
    watermark_seconds: -7 #! -7.0 is not | write seconds
    min_replicas: 0 #! 0 is below 1 | at least 1
""",
    "more replicas at least than at most": SOURCE
    + """\
  - name: count
    min_replicas: 4
    max_replicas: 3 #! max_replicas 3 is below min_replicas 4 | raise it
streams: [source -> count]
""",
    "the least number of replicas is above the usual greatest": SOURCE
    + """\
  - name: count #! max_replicas 1 is below min_replicas 2 | raise it
    min_replicas: 2
streams: [source -> count]
""",
    "a stateful operator without key": SOURCE
    + """\
  - name: count #! stateful operator 'count' has no key | write key: [column, ...]
    kind: stateful
streams: [source -> count]
""",
    "a stateful operator with an empty key": SOURCE
    + """\
  - name: count
    kind: stateful
    key: [] #! stateful operator 'count' has no key | write key
streams: [source -> count]
""",
    "a key that is no column": SOURCE
    + """\
  - name: count
    kind: stateful
    key: 5 #! key must be a list, not 5
  - name: top
    kind: stateful
    key:
      - word
      - 7 #! item 2 of key must be text, not 7
streams: [source -> count, source -> top]
""",
    "only a source emits": SOURCE
    + """\
  - name: count
    rate_tps: 5 #! only a source emits | give the stream a rate_tps
streams: [source -> count]
""",
    "a pin that is not among the candidates": """\
kind: application
name: app
operators:
  - name: source
    kind: source
    candidates: [node-1, node-2]
    pin: nod-1 #! pinned to 'nod-1' | did you mean 'node-1'?
""",
    "code that cannot be imported": """\
kind: application
name: app
operators:
  - {name: a, kind: source, code: my_app.operators.sentences} #! not an import path | package.module:function
  - {name: b, kind: source, code: "my_app/operators.py:f"} #! not an import path | package.module:function
  - {name: c, kind: source, code: ":f"} #! not an import path
  - {name: d, kind: source, code: "m:"} #! not an import path
""",
    "latency models with wrong fields": """\
kind: application
name: app
operators:
  - name: a
    kind: source
    latency: {model: mm2, service_rate_tps: 5} #! model 'mm2' is unknown | did you mean 'mm1'?
  - name: b
    kind: source
    latency: {service_rate_tps: 5} #! the latency has no model | model: constant or mm1
  - name: c
    kind: source
    latency: {model: mm1} #! 'service_rate_tps' is missing | service_rate_tps: 284
  - name: d
    kind: source
    latency:
      model: constant
      service_rate_tps: 3 #! 'service_rate_tps' is unknown | milliseconds, model
      milliseconds: 3
  - name: e
    kind: source
    latency: 5 #! latency must be a mapping, not 5
  - name: f
    kind: source
    latency:
      model: polynomial
      coefficients: [1, x] #! item 2 of coefficients must be a number, not 'x'
  - name: g
    kind: source
    latency: {model: magic} #! model 'magic' is unknown | known are: constant, micro-batch, mm1, polynomial, tabulated
""",
    "latency models with wrong numbers": """\
kind: application
name: app
operators:
  - {name: a, kind: source, latency: {model: constant, milliseconds: -1}} #! milliseconds >= 0, got -1.0 | number >= 0
  - {name: b, kind: source, latency: {model: mm1, service_rate_tps: 0}} #! service rate > 0, got 0.0 | number > 0
  - name: c
    kind: source
    latency:
      model: polynomial
      coefficients: [] #! needs finite coefficients | at least one
      saturation_tps: -3 #! saturation load > 0, got -3.0 | leave it out
  - name: d
    kind: source
    latency:
      model: tabulated
      loads_tps: [1, 1] #! increase strictly | greater than the one before
      latencies_ms: [2, 1] #! must not decrease | do not decrease
  - name: e
    kind: source
    latency:
      model: tabulated
      loads_tps: [1, 2]
      latencies_ms: [2] #! 2 loads and 1 latencies | one latency for each load
  - {name: f, kind: source, latency: {model: tabulated, loads_tps: [], latencies_ms: []}} #! at least one
""",
    "a parameter that is no single value": """\
kind: application
name: app
operators:
  - name: a
    kind: source
    parameters:
      window: 30
      words: [a, b] #! a parameter must be a single value | a text, a number
      nothing: #! a parameter must be a single value
""",
    "no source at all": """\
kind: application
name: app
operators: #! there is no source | kind: source
  - name: a
  - name: b
streams: [a -> b]
""",
    "an operator that no source reaches, and what comes after it": SOURCE
    + """\
  - name: a #! no source reaches operator 'a' | add a stream into it
  - name: b
  - name: c
streams: [a -> b, b -> c]
""",
    "a stream to an unknown operator": SOURCE
    + """\
  - name: count
streams:
  - {from: source, to: cuont} #! there is no operator 'cuont' | did you mean 'count'?
""",
    "a stream from and to nowhere": SOURCE
    + """\
  - name: count
streams:
  - source -> count
  - from: x1 #! there is no operator 'x1' | known are: count, source
    to: y2 #! there is no operator 'y2' | known are
""",
    "a stream that leads nobody knows where may have been meant for any": SOURCE
    + """\
  - name: count
streams:
  - source -> zzz #! there is no operator 'zzz' | known are
""",
    "a stream to itself": SOURCE
    + """\
  - name: a
streams:
  - source -> a
  - a -> a #! cycle: a -> a | acyclic
""",
    "a source that feeds itself": SOURCE
    + """\
streams: [source -> source] #! cycle: source -> source | acyclic
""",
    "streams around in a circle": SOURCE
    + """\
  - name: a
  - name: b
  - name: c
streams:
  - source -> a
  - a -> b #! the streams form a cycle: a -> b -> c -> a | remove one of these
  - b -> c
  - c -> a
""",
    "two circles": SOURCE
    + """\
  - name: a
  - name: b
  - name: c
  - name: d
streams:
  - source -> a
  - source -> c
  - a -> b #! cycle: a -> b -> a
  - b -> a
  - c -> d #! cycle: c -> d -> c
  - d -> c
""",
    "the same stream twice": SOURCE
    + """\
  - name: a
streams:
  - source -> a
  - {from: source, to: a, grouping: key} #! source -> a is declared twice | remove one
""",
    "a source that is fed and a sink that feeds": """\
kind: application
name: app
operators:
  - {name: a, kind: source}
  - {name: b, kind: source} #! source 'b' has an incoming stream | change its kind
  - {name: c, kind: sink} #! sink 'c' has an outgoing stream | change its kind
  - {name: d}
streams: [a -> b, a -> c, c -> d]
""",
    "streams that are none": SOURCE
    + """\
  - name: a
streams:
  - source -> a
  - source a #! not a stream between two operators | write from -> to
  - source -> a -> b #! not a stream between two operators
  - {to: a} #! 'from' is missing | write from: parser
  - 5 #! item 5 of streams must be a mapping, not 5
""",
    "streams with wrong numbers": SOURCE
    + """\
  - name: a
  - name: b
streams:
  - from: source
    to: a
    selectivity: -0.5 #! -0.5 is not a finite number >= 0
  - from: source
    to: b
    rate_tps: .inf #! inf is not a finite number >= 0
    selectivty: 2 #! 'selectivty' is unknown | did you mean 'selectivity'?
""",
    "streams that are no list": SOURCE
    + """\
streams: source -> a #! streams must be a list, not 'source -> a' | after a dash
""",
    "many mistakes of all sorts at once": """\
kind: application
name: app
verison: 2 #! 'verison' is unknown | known are
operators:
  - name: source
    kind: source
    rate_tps: fast #! rate_tps must be a number, not 'fast'
    latency: {model: mm1, service_rate_tps: -4} #! service rate > 0, got -4.0
  - name: parser
    max_replicas: 0 #! max_replicas 0 is below min_replicas 1
    resources: -2 #! -2.0 is not a finite number
  - name: count #! stateful operator 'count' has no key
    kind: stateful
  - name: count #! 'count' is used twice
    kind: stateful
    key: word
  - name: lost #! no source reaches operator 'lost'
streams:
  - source -> parser
  - parser -> coutn #! there is no operator 'coutn' | did you mean 'count'?
  - {from: parser, to: count, grouping: any} #! grouping 'any' is unknown
""",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_every_mistake_is_told_at_its_line_and_nothing_more(text, tmp_path):
    assert_told(tmp_path / "app.yaml", text)
