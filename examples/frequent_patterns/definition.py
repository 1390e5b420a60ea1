"""Definition of a frequent pattern: more than 20 tweets within a window of 60 s have it [Elastic Storm VI]."""

WINDOW_SECONDS = 60
"""A window is [end - 60 s, end)."""
SLIDE_SECONDS = 20
"""A new window begins that often. The paper does not say; a third of the window keeps the state small."""
MORE_THAN = 20
PAIRED_WORDS = 8
"""Only so many words of a tweet, the first in alphabetical order, make pairs: 28 at most."""
