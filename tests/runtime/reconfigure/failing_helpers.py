"""Functions that an operator may call outside its own module."""

from collections.abc import Iterator

import pandas as pd


def refusing(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        if frame["n"].max() > 20:
            raise RuntimeError("too many")
        yield frame
