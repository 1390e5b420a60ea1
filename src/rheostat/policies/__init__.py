"""What should be done, given what was seen: decisions without a clock, a world or memory of their own.

Its rooms, from low to high: `contract`, `replicas`, `operators`, `grants`, `nodes`, `policy_registry`; it may use
`model` alone.
"""
