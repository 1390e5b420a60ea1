import pytest
from tests.model.documents.told import assert_told

BROKEN = {
    "weights that do not sum to 1": """\
kind: objective
form: edrp
weights: {response_time: 0.5, cost: 0.4} #! the weights sum to 0.9 | sum to 1
bounds: {response_time_ms: 100, cost_per_hour: 5}
""",
    "no weights": """\
kind: objective
form: odp
weights: {} #! the weights sum to 0 | sum to 1
""",
    "weights are missing": """\
kind: objective #! 'weights' is missing | write weights: {response_time
form: edrp
bounds: {response_time_ms: 100, cost_per_hour: 5}
""",
    "weights that are none": """\
kind: objective
form: odp
weights:
  response_time: 1.5 #! 1.5 is not a weight | from 0 to 1
  availability: -0.5 #! -0.5 is not a weight
  network: .nan #! nan is not a weight
""",
    "a misspelled weight is one mistake, not two": """\
kind: objective
form: edrp
weights: {respnse_time: 0.5, cost: 0.5} #! 'respnse_time' is unknown | did you mean 'response_time'?
bounds: {response_time_ms: 100, cost_per_hour: 5}
""",
    "a weight of the other form": """\
kind: objective
form: edrp
weights:
  response_time: 0.5
  network: 0.5 #! 'network' is unknown | known are: cost, downtime, response_time
bounds: {response_time_ms: 100}
""",
    "a weighed metric without bound": """\
kind: objective
form: edrp
weights: {response_time: 0.5, cost: 0.5}
bounds: {response_time_ms: 100} #! cost is weighed but has no bound | bounds: {cost_per_hour: ...}
""",
    "weighed metrics and no bounds at all": """\
kind: objective
form: edrp
weights:
  response_time: 0.5 #! response_time is weighed but has no bound | bounds: {response_time_ms: ...}
  downtime: 0.5 #! downtime is weighed but has no bound | bounds: {downtime_seconds: ...}
""",
    "bounds that nothing can keep": """\
kind: objective
form: edrp
weights: {response_time: 1}
bounds:
  response_time_ms: 0 #! 0.0 is not a number > 0
  cost_per_hour: -1 #! -1.0 is not a number > 0
  downtime_seconds: soon #! downtime_seconds must be a number, not 'soon'
  availability: 99 #! 99.0 is not a probability | from 0 to 1
  response_time: 5 #! 'response_time' is unknown | did you mean 'response_time_ms'?
""",
    "an unknown form": """\
kind: objective
form: edpr #! the form 'edpr' is unknown | did you mean 'edrp'?
weights: {response_time: 0.4} #! the weights sum to 0.4
bounds: {response_time_ms: 100}
""",
    "no form, but one can see which": """\
kind: objective #! 'form' is missing | write form: edrp or odp
weights: {response_time: 1}
network_metric: trafic #! network_metric 'trafic' is unknown | did you mean 'traffic'?
""",
    "normalisers that are none": """\
kind: objective
form: odp
weights: {response_time: 1}
normalisers:
  response_time_ms: [5, 1] #! need finite least <= greatest | [least, greatest]
  availability: [0, 1] #! an availability of 0 has no logarithm | least > 0
  network: [1] #! network must be two numbers | [least, greatest]
""",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_every_mistake_is_told_at_its_line_and_nothing_more(text, tmp_path):
    assert_told(tmp_path / "objective.yaml", text)
