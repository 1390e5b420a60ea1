"""Positions of nodes on a map, from delays alone: near on the map is near on the network."""

import numpy as np

from rheostat.model.network.links import Matrix


def positions(delay_ms: Matrix) -> Matrix:
    """A point in the unit square for every node.

    Classical multidimensional scaling of the mean of both directions: the plane in which squared distances are best
    kept. Delays that are all alike have no such plane; then it is a circle.
    """
    distances = (delay_ms + delay_ms.T) / 2
    size = len(distances)
    if size == 1:
        return np.array([[0.5, 0.5]])
    off_diagonal = distances[~np.eye(size, dtype=bool)]
    flat = np.ptp(off_diagonal) <= 1e-9 * max(1.0, float(off_diagonal.max()))
    return _into_unit_square(_circle(size) if flat and size > 2 else _scaled(distances))


def without_overlaps(points: Matrix, boxes: Matrix, rounds: int = 300) -> Matrix:
    """The points moved until their boxes (left, right, down, up of each point) are clear of each other.

    Two boxes that overlap push each other away where it takes the shorter way, a little at a time.
    """
    # Points that coincide need some direction; a spiral gives each its own, always the same.
    angles = 2.4 * np.arange(len(points))
    points = points + 1e-6 * np.column_stack([np.cos(angles), np.sin(angles)])
    half = np.column_stack([(boxes[:, 0] + boxes[:, 1]) / 2, (boxes[:, 2] + boxes[:, 3]) / 2])
    shift = np.column_stack([(boxes[:, 1] - boxes[:, 0]) / 2, (boxes[:, 3] - boxes[:, 2]) / 2])
    for _ in range(rounds):
        centres = points + shift
        gaps = centres[:, None] - centres[None]
        depth = half[:, None] + half[None] - np.abs(gaps)
        overlap = np.all(depth > 1e-6, axis=-1) & ~np.eye(len(points), dtype=bool)
        if not overlap.any():
            break
        push = np.where(depth == depth.min(axis=-1, keepdims=True), depth, 0) * np.where(gaps < 0, -1, 1)
        points = points + 0.35 * np.sum(push * overlap[..., None], axis=1)
    return np.asarray(points)


def neighbours(delay_ms: Matrix) -> list[tuple[int, int]]:
    """Relative neighbourhood graph: pairs that no third node lies between; few lines that still join everything."""
    distances = (delay_ms + delay_ms.T) / 2
    size = len(distances)
    return [
        (u, v)
        for u in range(size)
        for v in range(u + 1, size)
        if not np.any(np.delete(np.maximum(distances[u], distances[v]), [u, v]) < distances[u, v])
    ]


def _circle(size: int) -> Matrix:
    angles = np.pi / 2 - 2 * np.pi * np.arange(size) / size
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _scaled(distances: Matrix) -> Matrix:
    size = len(distances)
    centring = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(-0.5 * centring @ distances**2 @ centring)
    points: Matrix = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0))
    # An eigenvector has no sign of its own: the entry of greatest size decides it, so that the map never flips.
    signs = np.sign(points[np.argmax(np.abs(points).round(9), axis=0), [0, 1]])
    return np.asarray(points * np.where(signs == 0, 1, signs))


def _into_unit_square(points: Matrix) -> Matrix:
    """Scaled alike in both directions, unless that would leave a thin line; then each by itself."""
    least, extent = points.min(axis=0), np.ptp(points, axis=0)
    usable = np.maximum(extent, 0.35 * extent.max())
    usable = np.where(usable <= 0, 1.0, usable)
    return np.asarray((points - least - extent / 2) / usable + 0.5)
