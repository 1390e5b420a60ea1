"""Granting policies: the choice of the requests that an application manager grants.

It uses `contract`.
"""
