"""Which settings a search may change, and how far."""

from collections.abc import Mapping
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from elman.config import ClassifierConfig, LanguageModelConfig

VERSION = 1  # of the ranges below: another one is another study

RATE_FACTOR = 10.0  # the learning rate goes this far up and down
DROPOUTS = {"embedding_dropout": 0.6, "word_dropout": 0.3, "dropout": 0.6}  # the highest; recurrent dropout is slow
UNITS = (0.5, 0.75, 1.0, 1.5, 2.0)  # times the units in force
LAYERS = 2  # up to this, or what is in force

Config = ClassifierConfig | LanguageModelConfig


def search_space(config: Config, *, tune_units: bool) -> dict[str, BaseDistribution]:
    """The ranges, around the settings in force, which lie in them.

    Args:
        config: What the cell would be trained with.
        tune_units: False where something else chooses them.
    """
    rate = config.learning_rate
    space: dict[str, BaseDistribution] = {
        "learning_rate": FloatDistribution(rate / RATE_FACTOR, rate * RATE_FACTOR, log=True),
        "num_layers": IntDistribution(1, max(LAYERS, config.num_layers)),
    }
    for name, highest in DROPOUTS.items():
        space[name] = FloatDistribution(0.0, max(highest, getattr(config, name)))
    if tune_units:
        grid = sorted({max(1, round(config.units * factor)) for factor in UNITS})
        space["units"] = CategoricalDistribution(grid)
    return space


def in_force(config: Config, space: Mapping[str, BaseDistribution]) -> dict[str, Any]:
    """The settings of today as a point of the space: the first trial."""
    return {name: getattr(config, name) for name in space}


def settings_of(point: Mapping[str, Any], config: Config) -> dict[str, Any]:
    """A point as an entry of `<task>_cells`: rounded, except where it is the value in force.

    The embedding of a language model with tied weights follows the units.

    Example:
        >>> config = LanguageModelConfig(
        ...     embedding_dim=64, units=64, tie_embeddings=True, learning_rate=0.0123456, epochs=1, batch_size=16
        ... )
        >>> settings_of({"learning_rate": 0.0123456, "dropout": 0.123456, "units": 96}, config)
        {'learning_rate': 0.0123456, 'dropout': 0.123, 'units': 96, 'embedding_dim': 96}
        >>> settings_of({"learning_rate": 0.0456789}, config)
        {'learning_rate': 0.0457}
    """
    settings = {name: _rounded(value, getattr(config, name)) for name, value in point.items()}
    if "units" in settings and isinstance(config, LanguageModelConfig) and config.tie_embeddings:
        settings["embedding_dim"] = settings["units"]
    return settings


def _rounded(value: Any, before: Any) -> Any:
    if value == before or isinstance(value, int):
        return value
    return round(value, 3) if value >= 0.1 else float(f"{value:.3g}")
