"""Whether new data may be used at all, held against the data that was accepted last."""

from elman.config import RetrainingConfig
from elman.retraining.facts import DataFacts


def problems(new: DataFacts, accepted: DataFacts | None, config: RetrainingConfig) -> list[str]:
    """What is wrong with new data, a sentence each; none: it may be used.

    Args:
        new: The data that came.
        accepted: The data that was accepted last; None at the first time.
        config: max_row_drop, max_duplicate_rise and label_changes.
    """
    raise NotImplementedError
