"""The port of a node, its implementations in this process, behind HTTP and in memory, and the processes of agents.

It uses `spark`, `channels`, `plan`, `query` and `checkpoints`.
"""
