"""Where a reader's next batch ends, and what its rows were made from.

It uses `records` and `log`.
"""
