"""Placement without proof: the schedulers that the papers compare with, and simple ones of our own.

All of them place executors one by one (`executors`), answer in the same form (`answering`) and keep every capacity.
None looks at the objective, but for `greedy`: each has its own idea of what is good.
"""
