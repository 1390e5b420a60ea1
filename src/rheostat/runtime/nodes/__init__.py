"""Nodes in this process and behind HTTP, and the processes of agents.

It uses `spark`, `channels`, `plan`, `query` and `checkpoints`.
"""
