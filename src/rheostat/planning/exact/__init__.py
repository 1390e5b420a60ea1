"""Exact planner with proven optimum, and two planners that restrict its choices.

It uses `contract`, `encoded` and `solvers`; its rooms, from low to high: `bounds`, `search`, `branch`.
"""
