"""Simulation: the same managers and policies in virtual time, on a queueing model of application and network.

Its rooms, from low to high: `queues`, `load`, `world`, `studies`; it may use `control`, `report`,
`policies` and `model`.
"""
