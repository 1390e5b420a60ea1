"""Steps of the optimality proof: bounds, subproblems, special application shapes, search.

It uses `bounds` and `search`.
"""
