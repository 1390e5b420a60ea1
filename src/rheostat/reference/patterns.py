"""The application of Elastic Storm: Frequent Pattern Detection (FPD) over tweets.

Table I gives executors and tasks; costs per tweet are not given but follow, within narrow limits, from what the
elasticity manager did with its thresholds.
"""

from rheostat.model.graph.application import Application, Grouping, Kind, Operator, Stream
from rheostat.model.graph.latency import MM1

EXECUTORS = {"Input": 1, "Generator": 2, "Detector": 5, "Reporter": 1}
"""E(op): executors at the start, and throughout without elasticity [Elastic Storm, Table I]."""
TASKS = {"Input": 1, "Generator": 2, "Detector": 20, "Reporter": 1}
"""T(op): an executor has at least one task, so there are never more executors than tasks [Elastic Storm, Table I]."""
PHASES_TPS = (120.0, 350.0, 900.0, 250.0, 120.0)
"""Tweets per second in the five phases of 900 s [Elastic Storm VI-A]."""
DETECTOR_SECONDS_PER_TWEET = 0.015
"""Derived. The sequence of 20, 10, 5, 10, 20, 10, 5 Detectors with thresholds 0.2 and 0.7 needs a cost above 0.0100
(350 tweets/s overload 5) and below 0.0167 (120 leave 10 underloaded). That 350 are too many for 5 without elasticity
needs more than 0.0142."""
PATTERNS_PER_TWEET = 10.0
"""Candidate patterns Generator emits per tweet: assumed. Detector's service rate follows it."""
CHANGES_PER_PATTERN = 0.01
"""Tuples Detector sends to Reporter per candidate pattern: assumed. Few patterns become or cease to be frequent."""
STATE_BYTES_AT_900 = 16_000_000
"""Detector's state in the busiest phase; 2 MB in the calmest, so proportional to the rate [Elastic Storm, Fig. 7a]."""


def frequent_patterns(rate_tps: float = 120.0) -> Application:
    """Input -> Generator -> Detector -> Reporter [Elastic Storm VI-A, Fig. 3, Table I].

    At least minExec = 1 executor each, at most as many as tasks. Generator serves 1500 tweets/s: one must do for 900 at
    a threshold of 0.7 since it stays halved (derived: at least 1286). Input and Reporter are given room (assumed).
    """
    detector_tps = PATTERNS_PER_TWEET / DETECTOR_SECONDS_PER_TWEET
    state_bytes = round(STATE_BYTES_AT_900 * rate_tps / 900)
    operators = (
        Operator("Input", Kind.SOURCE, max_replicas=TASKS["Input"], latency=MM1(2000), rate_tps=rate_tps),
        Operator("Generator", max_replicas=TASKS["Generator"], latency=MM1(1500)),
        Operator(
            "Detector",
            Kind.STATEFUL,
            key=("pattern",),
            max_replicas=TASKS["Detector"],
            state_bytes=state_bytes,
            latency=MM1(detector_tps),
        ),
        Operator("Reporter", Kind.SINK, max_replicas=TASKS["Reporter"], latency=MM1(1000)),
    )
    streams = (
        Stream("Input", "Generator"),
        Stream("Generator", "Detector", Grouping.KEY, selectivity=PATTERNS_PER_TWEET),
        Stream("Detector", "Reporter", selectivity=CHANGES_PER_PATTERN),
    )
    return Application("frequent-patterns", operators, streams)
