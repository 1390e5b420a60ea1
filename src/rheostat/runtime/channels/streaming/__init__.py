"""Channels as source and sink of Structured Streaming.

It uses every other room of `channels` but `observe`, and `spark`.
"""
