"""Branch and bound over multisets with compiled kernels.

It uses `bounds`.
"""
