"""Planners from the papers and beyond, behind one protocol: each computes the best deployment it can find.

Its rooms, from low to high: `contract`, `encoded`, `solvers`, `exact`, `heuristics`, `planner_registry`; it may use
`model` alone.
"""
