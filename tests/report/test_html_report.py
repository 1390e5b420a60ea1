"""Recording of a run, its summary, and the page that shows it."""

import re
from html.parser import HTMLParser
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest
from tests.simulation.scenes import Scripted, chain, changed

from rheostat.control.loop.loop_schedule import run
from rheostat.report.charts import ACCENT, FONT_PIXELS, MOST_POINTS, WIDTH, Chart, ChartLine, Mark, thinned
from rheostat.report.html_report import charts, page, write_report
from rheostat.report.recording import SERIES, Note, Recorder, Recording
from rheostat.report.run_summary import Exclusion, Summary, summarise
from rheostat.simulation.world.simulated_world import SimulatedWorld


def recorded(lines, notes=(), objective_ms=100.0):
    """A recording from lines of (seconds, response mean, replicas)."""
    recorder = Recorder(["work"])
    for seconds, response, replicas in lines:
        known = {} if response is None else {name: response for name in SERIES if name.startswith("response")}
        figures = {"rate_tps": 1.0, "backlog": 0.0, "nodes": 2.0, "cost_per_hour": 3600.0, **known}
        recorder.add(seconds, figures, {"work": replicas})
    for note in notes:
        recorder.note(note)
    return recorder.recording("a run", objective_ms=objective_ms, facts={"policy": "none"})


def test_averages_are_over_time_not_over_lines():
    summary = summarise(recorded([(10, 50, 1), (40, 150, 4)]))
    assert summary == Summary(
        mean_ms=125,
        p50_ms=150,
        p95_ms=150,
        violations=0.75,
        replicas=3.25,
        nodes=2,
        downtime=0,
        reconfigurations=0,
        cost=40,
    )


def test_what_does_not_count_is_left_out_of_averages_but_not_of_downtime_and_cost():
    notes = [Note(20, "done", "x", downtime_seconds=5), Note(90, "rolled back", "y", downtime_seconds=3)]
    lines = [(10, 900, 9), (20, 10, 1), (30, 800, 1), (40, 700, 1), (50, 20, 1), (100, 20, 1)]
    summary = summarise(recorded(lines, notes), Exclusion(warm_up_seconds=10, settle_seconds=15))
    assert summary.mean_ms == pytest.approx((10 * 10 + 20 * 60) / 70)
    assert summary.violations == 0
    assert summary.replicas == 1
    assert (summary.downtime, summary.reconfigurations, summary.cost) == (0.08, 1, 100)


def test_a_time_in_which_nothing_left_has_no_response_time():
    summary = summarise(recorded([(10, None, 1)]))
    assert (summary.mean_ms, summary.p50_ms, summary.violations) == (None, None, None)


def test_without_an_objective_nothing_violates_it():
    assert summarise(recorded([(10, 50, 1)], objective_ms=None)).violations is None


def test_a_recording_comes_back_as_it_was(tmp_path):
    recording = recorded([(10, None, 1), (20, 5, 2)], [Note(12, "done", "x", "because", 1.5)])
    recording.save(tmp_path / "run.json")
    assert Recording.load(tmp_path / "run.json") == recording


def test_reasons_go_to_the_changes_that_began_when_they_were_given():
    notes = [Note(10, "node", "a node came"), Note(10, "done", "x"), Note(10, "refused", "y"), Note(20, "done", "z")]
    explained = recorded([(30, 5, 1)], notes).explained([(10, "first"), (10, "second"), (15, "nothing happened")])
    assert [note.why for note in explained.notes] == ["", "first", "second", ""]


def test_series_that_do_not_fit_together_are_refused():
    whole = recorded([(10, 5, 1)])
    with pytest.raises(ValueError, match="needs the series backlog"):
        Recording("x", (1.0,), {name: (1.0,) for name in SERIES if name != "backlog"}, {})
    with pytest.raises(ValueError, match="2 values for 1 moments"):
        Recording("x", whole.seconds, whole.series, {"work": (1.0, 2.0)})
    with pytest.raises(ValueError, match="no numbers"):
        Recording("x", whole.seconds, whole.series, {"work": (float("nan"),)})


class Tags(HTMLParser):
    """Every tag that was opened with its attributes, and whether all were closed."""

    VOID = frozenset({"meta", "br"})

    def __init__(self):
        super().__init__()
        self.found, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_from_outside(tmp_path):
    world = SimulatedWorld(chain("ramp 20 180 for 600"))
    run([Scripted(world, {300.0: changed(world, "work", {"a": 1, "b": 1})})], world, 600)
    recording = world.recorder.recording("<Chain> & co", objective_ms=100.0, facts={"policy": "<none>"})
    write_report(recording.explained([(300.0, "utilisation 0.93 > 0.7")]), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    tags = Tags()
    tags.feed(text)
    assert not tags.open
    assert not {"script", "link", "iframe", "img"} & {tag for tag, _ in tags.found}
    assert not re.search(r"https?:|url\(|@import", text)
    assert "&lt;Chain&gt; &amp; co" in text
    assert "scale-out work: {a:1} -&gt; {a:1, b:1}" in text
    assert "utilisation 0.93 &gt; 0.7" in text
    for heading in ("Rate of the sources", "Response time", "Replicas", "Nodes", "Cost", "What happened"):
        assert f"<h2>{heading}</h2>" in text
    assert "objective 100 ms" in text


def test_the_same_recording_gives_the_same_page():
    recording = recorded([(10, 50, 1), (20, 60, 2)])
    assert page(recording) == page(recording)


def test_a_chart_alone_is_sound_xml_with_a_gap_where_nothing_was_known():
    chart = Chart("A & B", "ms", (0, 1, 2, 3), (ChartLine("x", (1, None, 3, 4)),), (Mark(2, "now"),), limit=2)
    root = ET.fromstring(chart.svg(alone=True))  # noqa: S314 - our own
    (path,) = root.findall("{http://www.w3.org/2000/svg}path")
    assert path.get("d").count("M") == 2
    assert "nan" not in chart.svg()


def test_very_many_points_become_as_many_as_can_be_seen_and_keep_their_mean():
    seconds, values = list(range(50_000)), [float(i % 7) for i in range(50_000)]
    shown = thinned(seconds, values)
    assert len(shown) <= MOST_POINTS
    assert sum(value for _, value in shown) / len(shown) == pytest.approx(3, rel=0.01)


def test_steps_keep_every_change():
    assert thinned([0, 1, 2, 3, 4], [1, 1, 2, 2, 1], steps=True) == [(0, 1), (2, 2), (4, 1), (4, 1)]


CHARACTER_PIXELS = 0.65 * FONT_PIXELS
"""Width of a character, rather too much than too little: a browser's sans-serif may be a wide one."""


def boxes(chart):
    """Every text of a chart with its box: left, top, right, bottom."""
    root = ET.fromstring(chart.svg(alone=True))  # noqa: S314 - our own
    for text in root.findall("{http://www.w3.org/2000/svg}text"):
        width, x, y = CHARACTER_PIXELS * len(text.text), float(text.get("x")), float(text.get("y"))
        left = x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[text.get("text-anchor", "start")]
        yield text.text, (left, y - 0.8 * FONT_PIXELS, left + width, y + 0.25 * FONT_PIXELS)


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("height", [130, 140, 190, 260])
@pytest.mark.parametrize("end", [60.0, 1800.0, 43_200.0, 864_000.0])
@pytest.mark.parametrize("highest", [0.003, 1.0, 1.4, 95.3, 150.0, 240_000.0, 999_999.0, 1e6, 1.2e9])
def test_no_label_overlaps_another_or_leaves_the_picture(height, end, highest):
    line = ChartLine("rate", (0.0, highest))
    labels = list(boxes(Chart("Rate", "tuples/s", (0.0, end), (line,), height=height)))
    assert [text for text, _ in labels].count("tuples/s") == 1
    assert len(labels) >= 6, "a few ticks on each axis"
    for text, (left, top, right, bottom) in labels:
        assert left >= 0, text
        assert right <= WIDTH, text
        assert top >= 0, text
        assert bottom <= height, text
    assert [(a, b) for (a, one), (b, other) in combinations(labels, 2) if overlap(one, other)] == []


def contrast_to_white(colour):
    """As the Web Content Accessibility Guidelines define it; 3 is the least for a graphical object."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 1.05 / (0.05 + sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)))


def response_chart(recording):
    return next(chart for chart in charts(recording) if chart.title == "Response time")


def test_the_99th_percentile_has_a_stroke_of_its_own_that_can_be_seen():
    chart = response_chart(recorded([(10, 50, 1), (20, 60, 2)]))
    lines = {line.name: line for line in chart.lines}
    assert contrast_to_white(lines["p99"].colour) >= 3
    assert lines["p99"].width >= 1.5
    assert lines["p99"].colour not in {line.colour for line in chart.lines if line.name != "p99"} | {ACCENT}
    assert f'stroke="{lines["p99"].colour}" stroke-width="{lines["p99"].width:g}"' in chart.svg()


def test_the_usual_99th_percentile_lies_within_the_chart_and_only_rare_spikes_are_cut_off():
    recorder = Recorder(["work"])
    for number in range(100):
        p99 = 5000.0 if number == 50 else 400.0
        figures = {"response_mean_ms": 40.0, "response_p50_ms": 30.0, "response_p95_ms": 90.0, "response_p99_ms": p99}
        recorder.add(10.0 * number, figures, {"work": 1})
    chart = response_chart(recorder.recording("a run", objective_ms=100.0))
    assert 400 < chart.top < 1000
    assert list(chart.notes) == ["higher values are cut off"]


def test_a_single_point_between_two_gaps_is_drawn():
    chart = Chart("A", "ms", (0, 1, 2), (ChartLine("x", (None, 2, None)),))
    (path,) = re.findall(r'<path d="([^"]*)"', chart.svg())
    assert path.startswith("M")
    assert path.endswith("h0"), "a line of no length with round ends: a dot"
    assert 'stroke-linecap="round"' in chart.svg()
