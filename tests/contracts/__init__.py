"""One suite per port. An implementation passes it by subclassing and giving the fixture."""
