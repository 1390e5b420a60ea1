"""`rheostat validate`: every mistake on its line."""

import re

import pytest

SOUND = ("clicks.yaml", "sites.yaml", "lean.yaml", "peak.yaml", "goals.yaml")


def test_sound_documents_are_told_by_kind_and_name(rheostat):
    answer = rheostat("validate", *SOUND)
    assert answer.code == 0
    assert answer.out.splitlines()[0] == "clicks.yaml: application clicks is sound"
    assert len(answer.out.splitlines()) == len(SOUND)


def test_every_mistake_is_on_a_line_of_its_own_with_file_line_and_remedy(rheostat):
    answer = rheostat("validate", "broken.yaml")
    assert answer.code == 1
    assert len(answer.out.splitlines()) == 3
    assert all(re.fullmatch(r"broken\.yaml:\d+: .+; .+", line) for line in answer.out.splitlines())


def test_documents_are_checked_together(rheostat, tmp_path):
    elsewhere = tmp_path / "elsewhere.yaml"
    elsewhere.write_text(
        "kind: infrastructure\nname: elsewhere\nnodes: [{name: edeg}, {name: cloud-a}, {name: cloud-b}]\n"
    )
    answer = rheostat("validate", "clicks.yaml", elsewhere)
    assert answer.code == 1
    assert answer.out == "clicks.yaml:8: there is no node 'edge'; did you mean 'edeg'?\n"


def test_a_deployment_is_checked_against_names_of_the_library(rheostat):
    assert rheostat("validate", "taxi", "ansnet", "taxi-calm.yaml", "taxi-rush.yaml").code == 0
    answer = rheostat("validate", "taxi", "geographic", "taxi-calm.yaml")
    assert answer.code == 1
    assert "taxi-calm.yaml:" in answer.out


def test_json_has_documents_and_mistakes(rheostat):
    assert rheostat("validate", "clicks.yaml", "goals.yaml", "--json").json == {
        "ok": True,
        "documents": [
            {"file": "clicks.yaml", "kind": "application", "name": "clicks"},
            {"file": "goals.yaml", "kind": "objective", "name": None},
        ],
        "mistakes": [],
    }
    answer = rheostat("validate", "broken.yaml", "--json")
    assert answer.code == 1
    assert answer.json["ok"] is False
    assert {"file", "line", "what", "remedy"} == set(answer.json["mistakes"][0])
    assert answer.json["mistakes"][-1]["line"] == 14


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        pytest.param("absent.yaml", None, 2, id="a missing file"),
        pytest.param("empty.yaml", "", 1, id="an empty file"),
        pytest.param("torn.yaml", "kind: [application", 1, id="broken YAML"),
        pytest.param("list.yaml", "- 1\n- 2\n", 1, id="a list"),
        pytest.param("other.yaml", "kind: cake\nname: x\n", 1, id="an unknown kind"),
        pytest.param("tag.yaml", "kind: !!python/object:os.system x\n", 1, id="a tag"),
        pytest.param("bytes.yaml", "\x00\x01", 1, id="no text"),
    ],
)
def test_bad_input_is_told_without_a_traceback(rheostat, tmp_path, name, content, code):
    if content is not None:
        (tmp_path / name).write_text(content)
    answer = rheostat("validate", tmp_path / name)
    assert answer.code == code
    assert str(tmp_path / name) in answer.out
    assert "Traceback" not in answer.out + answer.err
    as_json = rheostat("validate", tmp_path / name, "--json")
    assert as_json.code == code
    assert as_json.json["mistakes"]


def test_a_directory_is_wrong_use(rheostat, tmp_path):
    answer = rheostat("validate", tmp_path)
    assert answer.code == 2
    assert "directory" in answer.out


def test_a_misspelled_file_is_told_which_was_meant(rheostat):
    assert "did you mean 'clicks.yaml'?" in rheostat("validate", "click.yaml").out
    assert "did you mean 'ansnet'?" in rheostat("validate", "ansnets").out


def test_one_missing_file_does_not_hide_the_mistakes_of_another(rheostat):
    answer = rheostat("validate", "absent.yaml", "broken.yaml")
    assert answer.code == 2
    assert len(answer.out.splitlines()) == 4
