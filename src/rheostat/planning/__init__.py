"""Where everything should run: planners from the papers and beyond, behind one protocol.

Its rooms, from low to high: `contract`, `encoded`, `solvers`, `exact`, `heuristics`, `planner_registry`; it may use
`model` alone.
"""
