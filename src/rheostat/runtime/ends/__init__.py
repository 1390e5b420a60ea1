"""Sources that repeat the same rows after a crash, and an emulated service time.

It uses `spark`.
"""
