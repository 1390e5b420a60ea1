"""The physical plan: instances, key groups, descriptions that an agent can start, and where files lie.

It uses `channels`.
"""
