"""The planner whose answer is proven optimal, and the two that ask it less.

It uses `contract`, `encoded` and `solvers`; its rooms, from low to high: `bounds`, `search`, `branch`.
"""
