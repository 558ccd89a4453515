"""The sections of the experiment: what is compared, where it is computed, and what was tuned before."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from elman.config.section import Cell, NonNegativeFloat, PositiveInt, Section, as_tuple


def _as_seeds(value: Any) -> Any:
    """A number of seeds means 1 to that number; a list stays as it is."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise ValueError(f"experiment.seeds: a number of seeds must be 1 or more, but came {value}")
        return tuple(range(1, value + 1))
    return as_tuple(value)


class ExperimentConfig(Section):
    """What is compared."""

    cells: Annotated[tuple[Cell, ...], BeforeValidator(as_tuple), Field(min_length=1)]
    seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_as_seeds), Field(min_length=1)]
    equal_parameters: Cell | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name, values in (("cells", self.cells), ("seeds", self.seeds)):
            if len(set(values)) != len(values):
                raise ValueError(f"experiment.{name} names a value twice: {list(values)}")
        if self.equal_parameters is not None and self.equal_parameters not in self.cells:
            raise ValueError(
                f"experiment.equal_parameters: {self.equal_parameters} is not one of experiment.cells "
                f"{list(self.cells)}"
            )
        return self


class ComputeConfig(Section):
    """Where and how it is computed."""

    device: Literal["auto", "cpu", "gpu"] = "auto"
    threads: PositiveInt | None = None
    mixed_precision: bool = False
    deterministic: bool = False
    checkpoint_minutes: NonNegativeFloat = 5.0

    @property
    def machine(self) -> dict[str, Any]:
        """What changes results: all but how often training is saved; the arguments of `configure_device`."""
        return self.model_dump(mode="json", exclude={"checkpoint_minutes"})


class Tuning(Section):
    """What a search for one cell's settings took."""

    trials: PositiveInt
    seconds: NonNegativeFloat


class TuningConfig(Section):
    """What was tuned, by task and cell: a record for reports, which changes no training."""

    classifier: dict[Cell, Tuning] = Field(default={})
    language_model: dict[Cell, Tuning] = Field(default={})
