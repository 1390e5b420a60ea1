"""The order of the proof: bounds, subproblems, special shapes of applications, search.

It uses `bounds` and `search`.
"""
