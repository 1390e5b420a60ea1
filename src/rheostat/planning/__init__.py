"""Where should everything run? Planners from the papers and beyond, behind one protocol."""
