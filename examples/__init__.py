"""Applications one can run: the four of the papers. Each knows its own right answer."""
