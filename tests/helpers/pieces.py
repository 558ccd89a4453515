"""Texts in pieces."""

import numpy as np


def cut_up(text: str, *, seed: int, pieces: int) -> list[str]:
    """The text in so many pieces, cut at random places, some of them empty."""
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(text) + 1, pieces - 1)).tolist()
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
