"""Placement heuristics of the literature, each as its authors describe it.

It uses `contract` and `encoded`.

All of them place executors one by one (`executors`), answer in the same form (`heuristic_answer`) and keep every
capacity. Only `greedy` looks at the objective; each of the others has its own criterion.
"""
