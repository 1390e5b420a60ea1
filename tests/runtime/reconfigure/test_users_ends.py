"""Sources and sinks of Spark's own at both ends: exact through every change, as they are when nothing changes."""

import json
import time
from collections import Counter

import pytest
from experiments.walks import SETTINGS, three_nodes
from tests.runtime.reconfigure.users_ends import application

from rheostat.control.loop.ports import Done
from rheostat.model.graph.deployment import Deployment
from rheostat.runtime.reconfigure.embedded_nodes import embedded

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
ROWS_PER_FILE = 20
AT_FIRST = {name: {"n1": 1} for name in ("lines", "doubled", "again", "both", "files", "keyed", "sums", "numbered")}
CHANGES = (
    {"files": {"n2": 1}, "numbered": {"n3": 1}},
    {"files": {"n2": 3}, "sums": {"n1": 1, "n2": 1}},
    {"doubled": {"n2": 2, "n3": 1}, "numbered": {"n3": 2}, "both": {"n3": 1}},
    {"lines": {"n2": 1}, "doubled": {"n2": 1}, "files": {"n2": 1}, "sums": {"n3": 1}, "numbered": {"n3": 1}},
    {"lines": {"n3": 1}, "files": {"n1": 2}, "numbered": {"n1": 1}},
)


class Feed:
    """Brings a file with rows, each row once."""

    def __init__(self, folder) -> None:
        self.folder, self.brought = folder, 0
        folder.mkdir()

    def bring(self, files: int) -> None:
        for _ in range(files):
            rows = range(self.brought, self.brought + ROWS_PER_FILE)
            place = self.folder / f"{self.brought:06}.json"
            half = self.folder.parent / "half"
            half.write_text("".join(json.dumps({"n": n}) + "\n" for n in rows))
            half.rename(place)
            self.brought += ROWS_PER_FILE


def wait_until(done, runtime) -> None:
    deadline = time.monotonic() + 180
    while not done():
        failed = [one.error for one in runtime.heal().values() if one.state == "failed"]
        assert time.monotonic() < deadline, failed
        time.sleep(0.1)


def test_files_and_numbered_batches_are_exact_whatever_moves(nodes_session, tmp_path):
    feed = Feed(tmp_path / "in")
    (tmp_path / "numbered").mkdir()

    def written() -> Counter:
        if not (tmp_path / "out" / "_spark_metadata").exists():
            return Counter()
        return Counter(
            row.n
            for row in nodes_session.read.schema("n bigint, twice bigint").parquet(str(tmp_path / "out")).collect()
        )

    def counted() -> int:
        last: dict[str, int] = {}
        for batch in sorted((tmp_path / "numbered").glob("*.csv"), key=lambda place: int(place.stem)):
            last |= {k: int(rows) for k, _, rows in (line.split(",") for line in batch.read_text().splitlines())}
        return sum(last.values())

    placed = dict(AT_FIRST)
    with embedded(application(tmp_path), three_nodes(), tmp_path / "app", nodes_session, SETTINGS) as runtime:
        runtime.launch(Deployment.of(placed))
        for change in ({}, *CHANGES):
            placed |= change
            effect = runtime.deploy(Deployment.of(placed))
            assert isinstance(effect, Done), effect
            feed.bring(3)
            # So that every one of them has written batches under numbers of its own before it is replaced.
            wait_until(lambda: written().total() >= feed.brought and counted() >= feed.brought, runtime)
        feed.bring(2)
        wait_until(lambda: written().total() >= feed.brought and counted() >= feed.brought, runtime)
        wait_until(lambda: runtime.results("both").num_rows >= 2 * feed.brought, runtime)
        both = Counter(row["n"] for row in runtime.results("both").to_pylist())
    assert written() == Counter(range(feed.brought))
    assert counted() == feed.brought
    assert both == Counter(range(feed.brought)) + Counter(range(feed.brought)), "from each of its two streams"
