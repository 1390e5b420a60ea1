"""What is written in a channel: key groups, offsets, manifests, segments, and the ways to the disk.

It uses no other room of `channels`.
"""
