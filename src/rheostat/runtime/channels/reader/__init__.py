"""Reading of a channel by one instance: the end of the next batch, its plan, progress and holds.

It uses `port`, `records`, `hold_file` and `channel_store`.
"""
