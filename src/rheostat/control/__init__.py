"""Managers that decide for as long as an application runs, and the ports through which they see and change a world.

Its rooms, from low to high: `loop`, `knowledge`, `managers`, `setup`, `history` and `remote`; it may use `planning`,
`policies` and `model`.
"""
