"""The section of a scheduled retraining."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from elman.config.section import (
    Cell,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    Section,
    Task,
    WholeFraction,
    as_tuple,
)


class RetrainingConfig(Section):
    """What a scheduled retraining takes in, when it trains, and when a new model takes the champion's place."""

    task: Task | None = None
    cell: Cell | None = None

    settle_seconds: NonNegativeFloat = 5.0
    wait_minutes: NonNegativeFloat = 0.0
    max_row_drop: WholeFraction = 0.1
    max_duplicate_rise: WholeFraction = 0.1
    label_changes: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = ()

    min_new_rows: PositiveInt = 100
    min_drift_rows: PositiveInt | None = None
    max_age_days: PositiveFloat = 30.0
    drift_false_alarms: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.01
    min_coverage: WholeFraction = 0.98

    rule: Literal["superior", "non_inferior"] = "non_inferior"
    margin: NonNegativeFloat = 0.01
    confidence: Annotated[float, Field(gt=0.5, lt=1.0)] = 0.95
    max_class_loss: WholeFraction = 0.1
    floor: Annotated[float, Field(allow_inf_nan=False)] | None = None

    alarm_days: PositiveFloat = 2.0
    keep_nights: PositiveInt = 30

    @property
    def drift_rows(self) -> int:
        """New rows from which on drift is a reason to train: min_drift_rows, or half of min_new_rows, rounded up."""
        return self.min_drift_rows or (self.min_new_rows + 1) // 2
