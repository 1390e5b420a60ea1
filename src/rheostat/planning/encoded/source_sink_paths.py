"""All paths of an application from a source to a sink."""

from collections.abc import Iterator, Sequence


def source_sink_paths(operators: int, edges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
    """Every path of Π, one by one; there may be exponentially many.

    >>> sorted(source_sink_paths(4, [(0, 1), (0, 2), (1, 3), (2, 3)]))
    [(0, 1, 3), (0, 2, 3)]
    """
    onward: list[list[int]] = [[] for _ in range(operators)]
    fed = set[int]()
    for source, target in edges:
        onward[source].append(target)
        fed.add(target)
    stack: list[tuple[int, ...]] = [(i,) for i in range(operators) if i not in fed]
    while stack:
        path = stack.pop()
        if not onward[path[-1]]:
            yield path
        stack.extend((*path, target) for target in onward[path[-1]])
