"""Seeds: one number names everything random, and each use gets a stream of its own.

Streams are derived by hashing (seed, purpose, ...), so that a new use of randomness never shifts an older one, and the
order of batches in epoch 7 does not depend on how epochs 1 to 6 were run.
"""

import hashlib

import numpy as np


def derive_seed(seed: int, *names: str | int) -> int:
    """A 31-bit seed for one purpose.

    Example:
        >>> derive_seed(1, "batches", 3) == derive_seed(1, "batches", 3)
        True
        >>> derive_seed(1, "batches", 3) == derive_seed(1, "batches", 4)
        False
    """
    text = "\0".join(str(part) for part in (seed, *names))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """A NumPy generator for one purpose."""
    return np.random.default_rng(derive_seed(seed, *names))
