"""One module per experiment; each is a command that prints its table."""
