"""How many nodes a region needs, which region may have them, and what leaves a busy node.

It uses `contract`, `replicas` and `grants`.
"""
