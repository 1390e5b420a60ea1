"""Semantic checks of an application document, even if parts of it could not be read.

The rules are those of `Application`, but each mistake is reported once, at its cause: if a misspelt name in a stream
cuts an operator off, only the misspelling is reported.
"""

from collections.abc import Sequence

from rheostat.errors import Mistake
from rheostat.model.documents.shapes.application_shape import ApplicationShape, OperatorShape
from rheostat.model.documents.shapes.latency_shape import latency_mistakes
from rheostat.model.documents.text.mend import already_reported
from rheostat.model.documents.text.word_guess import closest_word
from rheostat.model.documents.text.written import Path
from rheostat.model.graph.application import Operator
from rheostat.model.graph.flow_order import edge_mistakes, reach_mistakes, repeated_names

Reported = dict[Path, Mistake]


def application_mistakes(shape: ApplicationShape, reported: Reported) -> list[Mistake]:
    """Every mistake of the application, except those reported already."""
    names = [operator.name for operator in shape.operators]
    edges = [(stream.source, stream.target) for stream in shape.streams]
    found = [m for i, operator in enumerate(shape.operators) for m in _operator_mistakes(operator, i, reported)]
    found += [m for i, stream in enumerate(shape.streams) for m in stream.value().mistakes(("streams", i))]
    found += repeated_names(names, "operators", "operator")
    found += edge_mistakes(list(dict.fromkeys(names)), edges)
    return found + _reach_mistakes(shape, reported)


def _operator_mistakes(shape: OperatorShape, position: int, reported: Reported) -> list[Mistake]:
    where: Path = ("operators", position)
    found = Operator(**shape.plain_fields()).mistakes(where)
    if _kind_is_unknown(shape, position, reported):
        found = [mistake for mistake in found if mistake.where[-1] not in ("key", "rate_tps")]
    if shape.latency is not None:
        found += latency_mistakes(shape.latency, (*where, "latency"))
    if shape.code and not _is_import_path(shape.code):
        what = f"the code {shape.code!r} is not an import path"
        found.append(Mistake((*where, "code"), what, "write package.module:function"))
    return found


def _kind_is_unknown(shape: OperatorShape, position: int, reported: Reported) -> bool:
    return already_reported(("operators", position, "kind"), reported) and "kind" not in shape.model_fields_set


def _is_import_path(code: str) -> bool:
    module, colon, function = code.partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), *function.split(".")))


def _reach_mistakes(shape: ApplicationShape, reported: Reported) -> list[Mistake]:
    """Operators that no source reaches, reported once per cause."""
    positions: dict[str, int] = {}
    for i, operator in enumerate(shape.operators):
        positions.setdefault(operator.name, i)
    names = list(positions)
    # An operator whose kind or name cannot be read is not reported: it may be a source.
    free = {
        n for n, i in positions.items() if _kind_is_unknown(shape.operators[i], i, reported) or _unnamed(i, reported)
    }
    kinds = {name: "source" if name in free else shape.operators[i].kind.value for name, i in positions.items()}
    edges, excused = _probable_edges(shape, reported, names)
    mistakes = reach_mistakes(kinds, names, [edge for edge in edges if edge[1] not in free])
    if not any(kind == "source" for kind in kinds.values()):
        return [mistake for mistake in mistakes if mistake.where == ("operators",)]
    found = []
    for mistake in mistakes:
        name = names[int(mistake.where[1])]
        if not (mistake.what.startswith("no source reaches") and name in excused):
            found.append(Mistake(("operators", positions[name]), mistake.what, mistake.remedy))
    return found


def _unnamed(position: int, reported: Reported) -> bool:
    return ("operators", position) in reported or ("operators", position, "name") in reported


def _probable_edges(
    shape: ApplicationShape, reported: Reported, names: Sequence[str]
) -> tuple[list[tuple[str, str]], frozenset[str]]:
    """The streams with misspelled ends corrected, and the operators not to be reported if no source reaches them.

    An operator with an input is cut off only because of an earlier one, which is reported there; and a stream that
    leads to an unknown operator may have been meant for any operator without input.
    """
    edges: list[tuple[str, str]] = []
    excused: set[str] = set()
    for i, stream in enumerate(shape.streams):
        unread = ("streams", i) in reported
        source = None if unread else closest_word(stream.source, names)
        target = None if unread else closest_word(stream.target, names)
        excused.update(names if target is None else [target])
        if source is not None and target is not None and source != target:
            edges.append((source, target))
    return edges, frozenset(excused)
