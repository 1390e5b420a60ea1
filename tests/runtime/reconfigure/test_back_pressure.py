"""A consumer that is too slow, behind a link that is too slow: the source is held back, and nothing is lost."""

import time

import pytest
from examples.word_count.answer import answer
from examples.word_count.app import counter, datasource, split
from examples.word_count.sentences import sentence

from rheostat.app import App
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.links import LinkQuality
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.channels.port.backlog import subscription_backlog
from rheostat.runtime.ends.seeded_random import Draw
from rheostat.runtime.metrics.collector import CollectorSettings
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.reconfigure.embedded_nodes import embedded

pytestmark = pytest.mark.spark

TOTAL, PER_BATCH, SERVICE_MS = 2500, 100, 8.0
"""The source brings 100 sentences in each of its batches, 500 a second at most; the splitter can do 125."""
LIMIT = 200
DELAY_MS = 700.0
NODES = Infrastructure("far apart", (Node("here", 4), Node("there", 4)), default_link=LinkQuality(delay_ms=DELAY_MS))
PATIENCE_SECONDS = 180


def slow_words():
    app = App("slow-words")
    parameters = {"pace": "all", "rows_per_batch": PER_BATCH, "total": TOTAL, "seed": 9}
    app.source("datasource", datasource, rate_tps=100, parameters=parameters)
    app.operator(split, reads="datasource", parameters={"service_ms": SERVICE_MS})
    app.operator(counter, reads="split", selectivity=10.0)
    app.sink("consumer", reads="counter")
    return app.build()


def test_a_source_waits_for_who_cannot_keep_up_and_goes_on_afterwards(nodes_session, tmp_path):
    settings = RuntimeSettings(key_groups=4, max_lag_rows=LIMIT, max_rows_per_batch=100, emulate_network=True)
    monitor = CollectorSettings(0.5)
    counts, most, held, went_on, responses = {}, 0, False, False, []
    wanted = dict(answer(sentence(Draw(9, index))[0] for index in range(TOTAL)))
    with embedded(slow_words(), NODES, tmp_path, nodes_session, settings, monitor=monitor) as runtime:
        everything_else = {name: {"there": 1} for name in ("split", "counter", "consumer")}
        runtime.launch(Deployment.of({"datasource": {"here": 1}, **everything_else}))
        channel = runtime.blueprint.channel(runtime.blueprint.application.streams[0])
        deadline = time.monotonic() + PATIENCE_SECONDS
        while counts != wanted:
            assert time.monotonic() < deadline, f"{sum(counts.values())} of {sum(wanted.values())} words"
            statuses = runtime.heal()
            source = next(one.name for one in runtime.plan.instances if one.head == "datasource")
            held = held or source not in statuses
            went_on = went_on or (held and source in statuses)
            most = max(most, subscription_backlog(channel, "split").rows)
            for sample in runtime.samples():
                responses += [value for name, value in sample.figures.items() if name == "response_p50_ms"]
            counts = {row["word"]: row["count"] for row in runtime.results("consumer").to_pylist()}
            time.sleep(0.1)
    assert held, f"the source was held back; {most} rows waited"
    assert went_on, "and went on"
    assert most < TOTAL / 2, f"{most} rows waited: the limit is {LIMIT} and what arrives until somebody looks"
    assert min(responses) >= DELAY_MS
