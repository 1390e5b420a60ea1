"""The command line: what a person asks, and how the answer is told.

Its rooms, from low to high: `output`, `views`, `pictures`, `inputs`, `session`, `commands`, `main`.
It may use every layer below it.
"""
