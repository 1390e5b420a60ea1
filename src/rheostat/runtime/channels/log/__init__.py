"""A channel as files on a shared disk: producers, consumers, cleaning.

It uses `records`.
"""
