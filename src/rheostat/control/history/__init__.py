"""The journal in memory and on disk, what it tells of each decision, and deciding again from it.

It uses every room of `control` but `remote`.
"""
