"""Which requests an application manager grants.

It uses `contract`.
"""
