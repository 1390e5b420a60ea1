"""The application of E2DF: Word Count.

The paper gives the graph, the rates of the source and the replicas provisioned for the peak; service rates are derived
from the latter.
"""

from rheostat.model.graph.application import Application, Grouping, Kind, Operator, Stream
from rheostat.model.graph.latency import MM1

STATIC_REPLICAS = {"datasource": 1, "split": 2, "counter": 6, "consumer": 6}
"""Provisioned for the peak of 550 tuples/s: 15 replicas on 16 nodes [E2DF 5]."""
LEAST_TPS, PEAK_TPS = 5.0, 550.0
"""The rate grows linearly from the one to the other and falls back [E2DF 5, Fig. 2a]."""
WORDS_PER_SENTENCE = 10.0
"""Assumed: the sentences are random, their length is not given."""


def word_count(rate_tps: float = LEAST_TPS, words: float = WORDS_PER_SENTENCE) -> Application:
    """datasource -> split -> counter -> consumer [E2DF 5].

    Service rates are derived: at the peak the static replicas are just enough for the threshold S_s-out = 0.7, one less
    would not be. So split serves 393 to 785 sentences/s (400 taken), counter and consumer 131 to 157 sentences' words
    per second (140 taken), one update per word. The source is never replicated and needs at least 786; 1000 is taken.
    """
    operators = (
        Operator("datasource", Kind.SOURCE, latency=MM1(1000), rate_tps=rate_tps),
        Operator("split", max_replicas=STATIC_REPLICAS["split"], latency=MM1(400)),
        Operator(
            "counter",
            Kind.STATEFUL,
            key=("word",),
            max_replicas=STATIC_REPLICAS["counter"],
            latency=MM1(140 * words),
        ),
        Operator("consumer", Kind.SINK, max_replicas=STATIC_REPLICAS["consumer"], latency=MM1(140 * words)),
    )
    streams = (
        Stream("datasource", "split"),
        Stream("split", "counter", Grouping.KEY, selectivity=words),
        Stream("counter", "consumer"),
    )
    return Application("word-count", operators, streams)
