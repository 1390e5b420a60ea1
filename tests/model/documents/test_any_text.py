"""Any file is either read or refused with line numbers; nothing else ever happens."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.model.documents import InvalidDocument, read

APPLICATION_KEYS = [
    "name",
    "operators",
    "streams",
    "from",
    "to",
    "key",
    "latency",
    "model",
    "coefficients",
    "candidates",
]
NETWORK_KEYS = ["nodes", "links", "delays_ms", "default_link", "store", "at", "parameters", "a", "b", "n1"]
OBJECTIVE_KEYS = [
    "form",
    "weights",
    "bounds",
    "normalisers",
    "response_time",
    "availability",
    "response_tim",
    "candidates",
]
KEYS = st.sampled_from([*APPLICATION_KEYS, *NETWORK_KEYS, *OBJECTIVE_KEYS])
WORDS = ["a", "b", "n1", "source", "stateful", "mm1", "tabulated", "edrp", "odp", "x->y", "a->b", "1"]
SCALARS = st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(WORDS)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("any") / "doc.yaml"


def flow(tree) -> str:
    """Any tree as YAML on one line."""
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{key}: {flow(value)}" for key, value in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(flow(value) for value in tree) + "]"
    return {"None": "null", "nan": ".nan", "inf": ".inf", "-inf": "-.inf"}.get(str(tree), str(tree))


@given(
    kind=st.sampled_from(["application", "infrastructure", "objective", "deployment"]),
    form=st.sampled_from(["edrp", "odp"]),
    tree=st.dictionaries(KEYS, TREES, max_size=6),
)
def test_any_tree(scratch, kind, form, tree):
    scratch.write_text(flow({**tree, "kind": kind, **({"form": form} if kind == "objective" else {})}))
    with contextlib.suppress(InvalidDocument):
        assert read(scratch).kind == kind


@given(text=st.text(st.sampled_from("abk: -[]{}&*!\"'\n\t#|>?,%@`1.~<")))
def test_any_text(scratch, text):
    scratch.write_text(text)
    with pytest.raises(InvalidDocument):
        read(scratch)


@given(content=st.binary(max_size=40), suffix=st.sampled_from([".yaml", ".csv", ".graphml"]))
def test_any_bytes(scratch, content, suffix):
    path = scratch.with_suffix(suffix)
    path.write_bytes(content)
    with contextlib.suppress(InvalidDocument):
        read(path)


CELLS = st.sampled_from(["", "a", "b", "0", "1", "-1", "nan", "inf", "1e3", " a ", '"a"', '"'])


@given(rows=st.lists(st.lists(CELLS, max_size=4), max_size=4))
def test_any_table(scratch, rows):
    path = scratch.with_suffix(".csv")
    path.write_text("\n".join(",".join(row) for row in rows))
    with contextlib.suppress(InvalidDocument):
        read(path)
