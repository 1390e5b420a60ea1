import pytest
from tests.model.documents.told import told

from rheostat.model.documents import read_infrastructure


def table(tmp_path, text: str):
    path = tmp_path / "cloud.csv"
    path.write_text(text)
    return path


def test_a_table_is_a_matrix_of_delays(tmp_path):
    network = read_infrastructure(table(tmp_path, "region,Dallas,Rome\nDallas,,34.5\nRome,36,0\n"))
    assert network.name == "cloud"
    assert [node.name for node in network.nodes] == ["Dallas", "Rome"]
    assert network.network.delay_ms.tolist() == [[0, 34.5], [36, 0]]


def test_rows_may_stand_in_another_order_than_columns(tmp_path):
    network = read_infrastructure(table(tmp_path, "\n,a,b\n\nb,1,\n a , ,2\n"))
    assert network.network.delay_ms.tolist() == [[0, 2], [1, 0]]


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        pytest.param("", [(1, "this is not a table of delays")], id="empty"),
        pytest.param("a;b\na;0\n", [(1, "this is not a table of delays")], id="semicolons"),
        pytest.param("x,a\n", [(1, "the column 'a' has no row")], id="no rows"),
        pytest.param("x,1-2,1-3\nRome,1,2\nOslo,3,4\n", [(1, "no row has the name of a column")], id="another table"),
        pytest.param(
            "x,a,b,c\na,0,,fast\n\nb,-1,0,nan\nc,inf,1,0\n",
            [
                (2, "the entry '' in row 'a', column 'b' is not a delay"),
                (2, "the entry 'fast' in row 'a', column 'c'"),
                (4, "the entry '-1' in row 'b', column 'a'"),
                (4, "the entry 'nan' in row 'b', column 'c'"),
                (5, "the entry 'inf' in row 'c', column 'a'"),
            ],
            id="entries that are no delays",
        ),
        pytest.param(
            "x,a,b\na,0\nb,1,0,2\n",
            [(2, "the row 'a' has 1 entries for 2 columns"), (3, "the row 'b' has 3 entries for 2 columns")],
            id="rows of wrong length",
        ),
        pytest.param("x,a,b\na,0,1\nbb,1,0\n", [(3, "the row 'bb' is not a column")], id="a row of another name"),
        pytest.param(
            "x,a,b\na,0,1\na,0,1\n",
            [(1, "the column 'b' has no row"), (3, "the row 'a' is there twice")],
            id="a row twice",
        ),
        pytest.param(
            "x,a,,a\na,0,1,2\n",
            [(1, "column 3 has no name"), (1, "the column 'a' is there twice")],
            id="columns without a name of their own",
        ),
        pytest.param('x,a\n"a,0\n', [(2, "this is not CSV: unexpected end of data")], id="an open quote"),
    ],
)
def test_every_mistake_is_told_at_its_line_and_nothing_more(tmp_path, text, mistakes):
    found = told(table(tmp_path, text))
    assert [line for line, _ in found] == [line for line, _ in mistakes], found
    assert all(message.startswith(what) for (_, message), (_, what) in zip(found, mistakes, strict=True)), found
