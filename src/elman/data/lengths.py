"""How long documents are, in a few numbers."""

from typing import TypedDict

import numpy as np
import numpy.typing as npt


class Lengths(TypedDict):
    """Least, median, 95th percentile and greatest length; all None where there are no documents."""

    min: int | None
    p50: float | None
    p95: float | None
    max: int | None


def length_quantiles(lengths: npt.NDArray[np.integer]) -> Lengths:
    """The quantiles of lengths in any unit; integers (documents,).

    Example:
        >>> length_quantiles(np.arange(30, 9, -1))
        {'min': 10, 'p50': 20.0, 'p95': 29.0, 'max': 30}
    """
    if not len(lengths):
        return Lengths(min=None, p50=None, p95=None, max=None)
    middle, upper = np.percentile(lengths, [50, 95])
    return Lengths(min=int(lengths.min()), p50=float(middle), p95=float(upper), max=int(lengths.max()))
