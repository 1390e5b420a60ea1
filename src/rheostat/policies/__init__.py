"""Policies: decisions from views, without a clock, side effects or hidden state.

Its rooms, from low to high: `contract`, `replicas`, `operators`, `grants`, `nodes`, `policy_registry`; it may use
`model` alone.
"""
