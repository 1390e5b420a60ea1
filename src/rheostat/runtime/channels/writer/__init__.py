"""Writing of channels by one query: rows of tasks staged, batches published.

It uses `port`, `records`, `reader` and `channel_store`.
"""
