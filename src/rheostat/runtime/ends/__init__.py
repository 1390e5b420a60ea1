"""Sources that bring the same rows again after a crash, and an emulated service time.

It uses `spark`.
"""
