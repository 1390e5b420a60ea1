"""The application of ODP's prototype experiments: Tag-and-Count, a source, five operators in sequence, a consumer.

The text names only the ends; names, ratios and the one stateful operator in between are assumed.
"""

from rheostat.model.graph.application import Application, Grouping, Kind, Operator, Stream
from rheostat.model.graph.latency import Constant

WORDS_PER_SENTENCE = 5.0
"""Tuples split emits per sentence. Assumed: the paper gives no rates but that of the source."""
TESTBED_PINS = ("worker1", "worker4")
"""Nodes of source and consumer on `networks.odp_testbed`. Which they were is not said; but S-ODP_A is 100 %
available, so both were among the nodes that are always up."""


def tag_and_count(
    rate_tps: float = 10.0, executors: int = 2, pins: tuple[str, str] | None = None, words: float = WORDS_PER_SENTENCE
) -> Application:
    """source -> tag -> split -> normalise -> count -> format -> consumer [ODP 7.1, Fig. 3].

    The source emits 10 tuples/s. Source and consumer have one executor, the five others exactly `executors`: with two,
    12 in all. 7.1 pins source and consumer: pass `pins=TESTBED_PINS` for its testbed. S-ODP takes C_i = R_i = 1
    [ODP 6.2] without a unit: 1 ms is taken, which adds 7 ms to every placement and changes the order of none.
    """
    source_node, consumer_node = pins or (None, None)
    unit = Constant(1.0)
    middle = (
        Operator("tag"),
        Operator("split"),
        Operator("normalise"),
        Operator("count", Kind.STATEFUL, key=("word",)),
        Operator("format"),
    )
    operators = (
        Operator("source", Kind.SOURCE, pin=source_node, latency=unit, rate_tps=rate_tps),
        *(
            Operator(op.name, op.kind, op.key, min_replicas=executors, max_replicas=executors, latency=unit)
            for op in middle
        ),
        Operator("consumer", Kind.SINK, pin=consumer_node, latency=unit),
    )
    streams = (
        Stream("source", "tag"),
        Stream("tag", "split"),
        Stream("split", "normalise", selectivity=words),
        Stream("normalise", "count", Grouping.KEY),
        Stream("count", "format"),
        Stream("format", "consumer"),
    )
    return Application("tag-and-count", operators, streams)
