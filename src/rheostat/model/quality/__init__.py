"""How good a deployment is: the papers' metrics and objectives.

It uses `graph`, `network` and `downtime`.
"""
