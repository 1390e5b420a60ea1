"""Channels as source and sink of Spark's Structured Streaming.

It uses every other room of `channels` but `observe`, and `runtime.spark`.
"""
