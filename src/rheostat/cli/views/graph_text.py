"""The graph of operators in a terminal: a line for each, streams as lanes on the left, as in `git log --graph`."""

from dataclasses import dataclass

from rheostat.model.graph.application import Application


@dataclass(frozen=True, slots=True)
class Lane:
    """The drawing beside one operator."""

    operator: str
    join: str | None
    """The line above it, where several streams meet; none if they do not."""
    line: str
    """The line it is on."""
    fork: str | None
    """The line below it, where its streams part; none if they do not."""


def lanes(application: Application) -> list[Lane]:
    r"""Operators in the order of flow, each with its part of the drawing.

    >>> from rheostat.model.graph.application import Kind, Operator, Stream
    >>> ops = (Operator("a", Kind.SOURCE), Operator("b"), Operator("c"), Operator("d", Kind.SINK))
    >>> streams = (Stream("a", "b"), Stream("a", "c"), Stream("b", "d"), Stream("c", "d"))
    >>> for lane in lanes(Application("diamond", ops, streams)):
    ...     print("\n".join(line for line in (lane.join, f"{lane.line} {lane.operator}", lane.fork) if line))
    ● a
    ├─╮
    ● │ b
    │ ● c
    ├─╯
    ● d
    """
    waiting: list[str | None] = []
    drawn = []
    for name in application.flow:
        arriving = [lane for lane, target in enumerate(waiting) if target == name]
        column = arriving[0] if arriving else _free(waiting, 0)
        join = _joined(waiting, column, arriving[1:], "┴", "╯") if len(arriving) > 1 else None
        for lane in arriving[1:]:
            waiting[lane] = None
        waiting[column] = name
        line = " ".join("●" if lane == column else _bar(target) for lane, target in enumerate(waiting)).rstrip()
        waiting[column] = None
        targets = [stream.target for stream in application.outputs[name]]
        leaving = []
        for number, target in enumerate(targets):
            lane = column if number == 0 else _free(waiting, column + 1)
            waiting[lane] = target
            leaving.append(lane)
        fork = _joined(waiting, column, leaving[1:], "┬", "╮") if len(leaving) > 1 else None
        while waiting and waiting[-1] is None:
            waiting.pop()
        drawn.append(Lane(name, join, line, fork))
    return drawn


def passing(lane: Lane) -> str:
    """A further line below: what goes on goes straight on."""
    below = lane.fork or lane.line
    return "".join("│" if mark in "│├┬╮┼●" else " " for mark in below).rstrip()


def _free(waiting: list[str | None], first: int) -> int:
    for lane in range(first, len(waiting)):
        if waiting[lane] is None:
            return lane
    waiting.append(None)
    return len(waiting) - 1


def _bar(target: str | None) -> str:
    return " " if target is None else "│"


def _joined(waiting: list[str | None], column: int, others: list[int], middle: str, end: str) -> str:
    """A line on which lanes leave for, or arrive from, the right."""
    marks = []
    for lane, target in enumerate(waiting):
        if lane == column:
            marks.append("├")
        elif lane in others:
            marks.append(end if lane == others[-1] else middle)
        elif column < lane < others[-1]:
            marks.append("─" if target is None else "┼")
        else:
            marks.append(_bar(target))
    last = others[-1]
    gaps = ["─" if column <= lane < last else " " for lane in range(len(waiting))]
    return "".join(mark + gap for mark, gap in zip(marks, gaps, strict=True)).rstrip()
