from pathlib import Path

import pytest
from examples.plain import last_rows, run_plain
from examples.word_count.answer import answer
from examples.word_count.app import application
from examples.word_count.handwritten import writer
from examples.word_count.sentences import VOCABULARY, WORDS, sentence
from tests.examples.documents import document_of, without_service_times

from rheostat.model.documents import read_application
from rheostat.runtime.ends.seeded_random import Draw

FINITE = {"total": 600, "pace": "all", "rows_per_batch": 150, "seed": 3}


def right_answer():
    return answer(sentence(Draw(FINITE["seed"], index))[0] for index in range(FINITE["total"]))


def test_words_differ_and_frequent_ones_are_short():
    assert len(set(WORDS)) == VOCABULARY
    assert [len(WORDS[rank]) for rank in (0, 100, 4999)] == [2, 4, 4]


def test_sentences_have_five_to_fifteen_words_the_first_of_which_are_frequent():
    counts = right_answer()
    assert 9 < counts.total() / FINITE["total"] < 11
    assert counts.most_common(1)[0][0] in WORDS[:3]


def test_the_document_and_the_program_are_one_application():
    assert read_application(document_of("word_count")) == without_service_times(application().build())


@pytest.mark.spark
def test_the_last_count_of_every_word_is_right(spark, tmp_path):
    output = run_plain(application(**FINITE).build(), spark, tmp_path)["consumer"]
    assert {word: row["count"] for word, row in last_rows(output, "word").items()} == right_answer()
    assert len(output) > len(right_answer()), "several batches counted the same word"


@pytest.mark.spark
def test_the_handwritten_query_gives_the_same(spark, tmp_path: Path):
    rows = []
    query = writer(spark, tmp_path, curve="10", **FINITE)
    query = query.foreachBatch(lambda batch, _: rows.extend(batch.collect())).trigger(availableNow=True).start()
    query.awaitTermination()
    assert {word: row["count"] for word, row in last_rows(rows, "word").items()} == right_answer()
