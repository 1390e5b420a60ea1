from collections import Counter

import pytest
from examples.plain import last_rows, run_plain
from examples.tag_and_count.answer import TAGS, answer
from examples.tag_and_count.app import application
from examples.tag_and_count.sentences import sentence
from tests.examples.documents import document_of, without_service_times

from rheostat.model.documents import read_application
from rheostat.runtime.ends.seeded_random import Draw

FINITE = {"total": 500, "pace": "all", "rows_per_batch": 120, "replicas": 2, "seed": 5}


def sentences():
    return [sentence(Draw(FINITE["seed"], index))[1] for index in range(FINITE["total"])]


def test_sentences_of_all_tags_occur():
    ends = Counter(TAGS.get(text[-1], "statement") for text in sentences())
    assert set(ends) == {"question", "exclamation", "statement"}
    assert min(ends.values()) > 50


def test_words_are_counted_by_tag_whatever_their_case_and_marks():
    assert answer(["Ba, be?", "ba - ba!", "BA?"]) == {
        ("question", "ba"): "2 x ba in a question",
        ("question", "be"): "1 x be in a question",
        ("exclamation", "ba"): "2 x ba in a exclamation",
    }


def test_the_document_and_the_program_are_one_application():
    assert read_application(document_of("tag_and_count")) == without_service_times(application().build())


@pytest.mark.spark
def test_the_last_line_of_every_tag_and_word_is_right(spark, tmp_path):
    output = run_plain(application(**FINITE).build(), spark, tmp_path)["consumer"]
    assert {key: row["text"] for key, row in last_rows(output, "tag", "word").items()} == answer(sentences())


@pytest.mark.spark
def test_a_service_time_changes_nothing_but_the_time(spark, tmp_path):
    output = run_plain(application(service_ms=0.2, **FINITE).build(), spark, tmp_path)["consumer"]
    assert {key: row["text"] for key, row in last_rows(output, "tag", "word").items()} == answer(sentences())
