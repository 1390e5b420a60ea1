"""One application on its nodes: launched, changed, healed, stopped.

It uses every other room of `runtime` but `agent`.
"""
