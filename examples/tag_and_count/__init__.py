"""Tag-and-Count, the application of ODP's prototype experiments."""
