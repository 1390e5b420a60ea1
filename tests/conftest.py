"""Settings common to all tests, such as the number of examples per property."""

from hypothesis import HealthCheck, settings

# Deterministic, so that a red build is red again on the next machine; no deadline, since the machines are shared.
settings.register_profile(
    "rheostat", max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("rheostat")
