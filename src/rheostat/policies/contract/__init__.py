"""The protocol of a policy, the views it is given, the requests it makes, and guards around it.

It uses no other room of `policies`.
"""
