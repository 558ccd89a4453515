"""params.yaml as frozen, strict models.

A wrong value is refused before any stage works, with its dotted path and, for an unknown key, the nearest valid name.
YAML 1.2 rules hold (ruamel.yaml, the reader that DVC uses): `1e-3` is a number and `yes` is a string.

All other code imports from here, not from the modules below.
"""

from elman.config.data import DatasetConfig, PrepareConfig, TokenizerConfig
from elman.config.params import Params
from elman.config.reading import load_params, parse_params, read_params
from elman.config.retraining import RetrainingConfig
from elman.config.section import Cell, PositiveFloat, PositiveInt, Section, Task
from elman.config.training import ClassifierConfig, LanguageModelConfig, TrainingConfig

__all__ = [
    "Cell",
    "ClassifierConfig",
    "DatasetConfig",
    "LanguageModelConfig",
    "Params",
    "PositiveFloat",
    "PositiveInt",
    "PrepareConfig",
    "RetrainingConfig",
    "Section",
    "Task",
    "TokenizerConfig",
    "TrainingConfig",
    "load_params",
    "parse_params",
    "read_params",
]
