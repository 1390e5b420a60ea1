"""Plain values of channels: key groups, offsets, manifests, segments and strands.

It uses no other room of `channels`.
"""
