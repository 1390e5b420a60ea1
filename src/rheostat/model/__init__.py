"""Pure values and the papers' formulas. Nothing here reads a clock, a file or a network."""
