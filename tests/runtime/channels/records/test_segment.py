import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.channels.world import Row, channel_at, opened, rows_in, table_of

from rheostat.model.graph.application import Grouping
from rheostat.runtime.channels.reader.batch_plan import _dealt
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.histogram import IngestHistogram
from rheostat.runtime.channels.records.key_groups import EVERY
from rheostat.runtime.channels.records.manifest import Manifest, ManifestKind, Segment
from rheostat.runtime.channels.records.segment import KEY_GROUP, GroupRun, Strand, read_strands
from rheostat.runtime.channels.writer.outputs import (
    Output,
    format_outputs,
    groups_of,
    parse_outputs,
    stored_columns,
)


def test_rows_of_a_group_are_neighbours_in_the_order_written(tmp_path):
    rows = [Row("p", number, group) for number, group in enumerate([3, 1, 3, 0, 1])]
    channel = channel_at(tmp_path)
    opened(channel, "p")
    segment = channel.producers.stage("p", 1, table_of(rows), np.array([3, 1, 3, 0, 1]))
    assert list(segment.places()) == [(0, 0, 1), (1, 1, 2), (3, 3, 2)]
    run = GroupRun("p", 1, segment.name, 1, 4, ((1, 2), (3, 2)))
    (batch,) = read_strands([Strand((run,))], channel.log().fetch, None, labelled=True)
    assert [row.number for row in rows_in([batch])] == [1, 4, 0, 2]
    assert batch.column(KEY_GROUP).to_pylist() == [1, 1, 3, 3]


def test_no_rows_no_file(tmp_path):
    channel = channel_at(tmp_path)
    opened(channel, "p")
    assert channel.producers.stage("p", 1, table_of([]), None) is None
    assert list(channel.folder.segments("p", 1).iterdir()) == []


@given(st.dictionaries(st.integers(0, 9), st.integers(1, 9), min_size=1), st.booleans())
def test_a_manifest_is_what_its_bytes_say(rows, broadcast):
    segment = Segment("x", 7, {EVERY: 3} if broadcast else dict(sorted(rows.items())))
    manifest = Manifest(ManifestKind.BATCH, 4, 5, 6, (segment, segment), 8, 9, IngestHistogram.of([1, 1, 5]))
    again = Manifest.from_bytes(manifest.to_bytes())
    assert again == manifest
    assert again.rows == 2 * sum(segment.rows.values())


def test_a_broadcast_row_counts_once_per_owner_and_travels_once():
    manifest = Manifest(ManifestKind.BATCH, 0, 0, segments=(Segment("x", 60, {EVERY: 3}),))
    assert manifest.rows_for(frozenset({1, 2})) == 6
    assert manifest.bytes_for(frozenset({1, 2})) == 60


@given(st.integers(0, 300), st.integers(1, 64), st.integers(0, 1000))
def test_a_shuffle_spreads_evenly_and_in_slices(rows, groups, turn):
    channel = ChannelSpec("c", groups)
    found = groups_of(table_of([Row("p", 0, 0)] * rows), Output("x"), channel, turn)
    counts = np.bincount(found, minlength=groups)
    assert counts.max() - counts.min() <= 1
    assert np.count_nonzero(np.diff(found)) < groups


def test_small_batches_of_a_shuffle_reach_all_groups():
    channel = ChannelSpec("c", 4)
    reached = {int(groups_of(table_of([Row("p", 0, 0)]), Output("x"), channel, turn)[0]) for turn in range(4)}
    assert reached == {0, 1, 2, 3}


def test_groups_the_channel_does_not_have_are_refused():
    channel = ChannelSpec("c", 4)
    output = Output("x", Grouping.KEY, helper="group")
    assert groups_of(table_of([Row("p", 0, 3)]), output, channel, 0).tolist() == [3]
    with pytest.raises(ValueError, match="holds no key groups"):
        groups_of(table_of([Row("p", 0, 4)]), output, channel, 0)


def test_outputs_are_what_their_text_says():
    outputs = (
        Output("/a", Grouping.KEY, ("k", "l")),
        Output("/b", Grouping.BROADCAST),
        Output("/c", Grouping.KEY, (), "g"),
    )
    assert parse_outputs(format_outputs(outputs)) == outputs
    assert stored_columns(["k", "l", outputs[0].column(8), "g"], outputs) == ["k", "l"]


@pytest.mark.parametrize(("grouping", "key"), [(Grouping.KEY, ()), (Grouping.SHUFFLE, ("k",))])
def test_a_key_belongs_to_the_grouping_key(grouping, key):
    with pytest.raises(ValueError, match="belongs to the grouping key"):
        Output("/a", grouping, key)


@given(st.dictionaries(st.integers(0, 30), st.integers(1, 100), min_size=1), st.integers(1, 6))
def test_groups_are_dealt_out_evenly(weights, parts):
    hands = _dealt(weights, parts)
    assert sorted(group for hand in hands for group in hand) == sorted(weights)
    loads = [sum(weights[group] for group in hand) for hand in hands]
    assert len(hands) <= parts
    assert max(loads) <= sum(weights.values()) / parts + max(weights.values())
