"""Protocol of a policy, its views and requests, and guards around policies.

It uses no other room of `policies`.
"""
