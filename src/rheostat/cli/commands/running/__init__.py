"""Commands that start a run, steer it, or read what it left.

They use every other room of `cli` but `main`.
"""
