"""How small a difference could these data have shown?"""

from scipy import stats

from elman.errors import MetricError


def smallest_detectable(standard_error: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """The true difference that a two-sided test at `alpha` would find with probability `power`.

    (z(1 - alpha / 2) + z(power)) * standard error of the paired difference, z the quantile of the normal distribution:
    2.80 standard errors at 5 % and 80 %. "Not told apart" says little where this is large. It comes from the spread
    alone and not from the difference that was found.

    Args:
        standard_error: Of the paired difference, in the unit of the measure.
        alpha: Chance of a false find of one test; with m tests corrected together, 0.05 / m.
        power: Chance of finding the difference where it is there.

    Raises:
        MetricError: A standard error below 0, or a chance that is not between 0 and 1.

    Example:
        >>> round(smallest_detectable(0.01), 5)
        0.02802

    References:
        card2020power in docs/references.bib.
    """
    if not standard_error >= 0.0 or not (0.0 < alpha < 1.0 and 0.0 < power < 1.0):
        raise MetricError(f"standard error >= 0, alpha and power in (0, 1); {standard_error}, {alpha}, {power} came")
    return float((stats.norm.ppf(1.0 - alpha / 2.0) + stats.norm.ppf(power)) * standard_error)
