"""The Channel port and the rules that follow from it alone: places in a log, backlog and floors.

It uses `records`. Every other room of the project reaches a channel through these protocols.
"""
