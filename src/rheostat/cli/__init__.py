"""The command line: every command one file, and nothing here that a program could not do without it."""
