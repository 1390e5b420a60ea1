"""Choice of the node for a new replica, and of the replica to stop.

It uses `contract`.
"""
