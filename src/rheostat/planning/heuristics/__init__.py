"""Placement heuristics of the literature, each as its authors describe it.

It uses `contract` and `encoded`.

All of them place executors one by one (`executors`), answer in the same form (`answering`) and keep every capacity.
None looks at the objective, but for `greedy`: each has its own idea of what is good.
"""
