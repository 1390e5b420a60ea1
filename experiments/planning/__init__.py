"""Tables and figures of ODP and EDRP, each a command that writes what it measured into `docs/results`."""
