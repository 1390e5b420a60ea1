"""Complete simulated runs, comparisons of many, and an environment for learning.

It uses every other room of `simulation`.
"""
