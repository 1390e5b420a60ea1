"""Applications, infrastructures and deployments as pure values, the papers' formulas on them, and their documents.

Its rooms, from low to high: `graph`, `network`, `downtime`, `quality`, `observation`, `documents`. It uses no other
layer; only `documents` reads files, and nothing reads a clock or a network.
"""
