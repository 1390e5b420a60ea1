"""Topological order of an application graph, and checks that the graph is valid.

The checks work on bare names and edges, so that a document with other mistakes still gets all of its mistakes reported
at once.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import TypeVar

from rheostat.errors import Mistake

Key = TypeVar("Key", bound=Hashable)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A remedy with the closest known word, or with all known words."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known are: {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}" if names else "none is declared"


def repeated_names(names: Sequence[str], where: str, noun: str) -> list[Mistake]:
    """A mistake for every repetition of a name."""
    seen: Counter[str] = Counter()
    mistakes = []
    for position, name in enumerate(names):
        if seen[name]:
            mistakes.append(
                Mistake((where, position, "name"), f"the name {name!r} is used twice", f"rename one {noun}")
            )
        seen[name] += 1
    return mistakes


def flow_order(names: Sequence[str], edges: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Names in topological order; names on a cycle and behind it are left out."""
    waiting: dict[str, int] = dict.fromkeys(names, 0)
    outgoing: dict[str, list[str]] = defaultdict(list)
    for source, target in edges:
        outgoing[source].append(target)
        waiting[target] += 1
    ready = [name for name in names if waiting[name] == 0]
    order = []
    while ready:
        name = ready.pop(0)
        order.append(name)
        for target in outgoing[name]:
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    return tuple(order)


def find_cycle(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The names along one cycle; empty if there is none."""
    on_cycle = set(names) - set(flow_order(names, edges))
    incoming = {target: source for source, target in edges if source in on_cycle and target in on_cycle}
    if not incoming:
        return ()
    # A walk against the edges inside the leftover part never ends, so it closes a cycle.
    walk = [next(name for name in names if name in incoming)]
    while walk[-1] not in walk[:-1]:
        walk.append(incoming[walk[-1]])
    return tuple(reversed(walk[walk.index(walk[-1]) :]))


def edge_mistakes(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> list[Mistake]:
    """Mistakes of streams: unknown operators, loops, duplicates and cycles."""
    known, seen, mistakes = set(names), set[tuple[str, str]](), []
    sound = []
    for position, (source, target) in enumerate(edges):
        for end, name in (("from", source), ("to", target)):
            if name not in known:
                remedy = did_you_mean(name, known)
                mistakes.append(Mistake(("streams", position, end), f"there is no operator {name!r}", remedy))
        if (source, target) in seen:
            what = f"the stream {source} -> {target} is declared twice"
            mistakes.append(Mistake(("streams", position), what, "remove one or give the data another operator"))
        seen.add((source, target))
        if source in known and target in known:
            sound.append((source, target))
    # A graph of nothing but cycles has more of them than a user wants to read.
    while (cycle := find_cycle(names, sound)) and len(mistakes) < 100:
        position = edges.index((cycle[0], cycle[1]))
        what = f"the streams form a cycle: {' -> '.join(cycle)}"
        mistakes.append(Mistake(("streams", position), what, "an application is acyclic: remove one of these streams"))
        told = set(pairwise(cycle))
        sound = [edge for edge in sound if edge not in told]
    return mistakes


def reach_mistakes(kinds: Mapping[str, str], names: Sequence[str], edges: Sequence[tuple[str, str]]) -> list[Mistake]:
    """Mistakes of reachability: operators that no source reaches, sources with inputs, sinks with outputs."""
    outgoing: dict[str, list[str]] = defaultdict(list)
    fed, feeding = set[str](), set[str]()
    for source, target in edges:
        outgoing[source].append(target)
        fed.add(target)
        feeding.add(source)
    reached = {name for name in names if kinds.get(name) == "source"}
    frontier = list(reached)
    while frontier:
        for target in outgoing[frontier.pop()]:
            if target not in reached:
                reached.add(target)
                frontier.append(target)
    mistakes = []
    for position, name in enumerate(names):
        place, kind = ("operators", position), kinds.get(name, "")
        if kind == "source" and name in fed:
            mistakes.append(Mistake(place, f"source {name!r} has an incoming stream", "change its kind or the stream"))
        if kind == "sink" and name in feeding:
            mistakes.append(Mistake(place, f"sink {name!r} has an outgoing stream", "change its kind or the stream"))
        if name not in reached:
            what = f"no source reaches operator {name!r}"
            mistakes.append(Mistake(place, what, "add a stream into it, or make it kind: source"))
    if not any(kind == "source" for kind in kinds.values()):
        mistakes.append(Mistake(("operators",), "there is no source", "give one operator kind: source"))
    return mistakes
