"""How many weights a model will have, and which units give it as many as another one: by formula, nothing is built."""

import dataclasses

from elman.errors import ConfigError
from elman.models.spec import ModelSpec

TOLERANCE = 0.02  # share of the wanted number by which the nearest one may differ

_GATES = {"simple_rnn": 1, "lstm": 4, "gru": 3}
_BIASES = {"simple_rnn": 1, "lstm": 1, "gru": 2}  # a GRU that resets after the product has one more for each gate


def count_parameters(spec: ModelSpec) -> int:
    """All weights of the model, embedding and output included.

    With G gates, b biases a gate, D inputs and U units, one recurrent layer and direction has G (U (D + U) + b U).
    The inputs of the first layer are the embedding, those of the others the outputs of the layer below.

    Example:
        >>> count_parameters(
        ...     ModelSpec(task="classifier", cell="lstm", vocab_size=30, num_classes=4, embedding_dim=6, units=5)
        ... )
        444
    """
    directions = 2 if spec.bidirectional else 1
    width, total = spec.embedding_dim, spec.vocab_size * spec.embedding_dim
    for _ in range(spec.num_layers):
        one = _GATES[spec.cell] * spec.units * (width + spec.units + _BIASES[spec.cell])
        total += directions * one
        width = directions * spec.units
    if spec.task == "classifier":
        return total + (width * (3 if spec.pooling == "all" else 1) + 1) * spec.num_classes
    return total + spec.vocab_size * (1 if spec.tie_embeddings else 1 + spec.units)


def with_units(spec: ModelSpec, units: int) -> ModelSpec:
    """The same architecture with other units; a tied embedding, which is as wide as they are, follows."""
    return dataclasses.replace(spec, units=units, embedding_dim=units if spec.tie_embeddings else spec.embedding_dim)


def match_parameters(spec: ModelSpec, wanted: int) -> int:
    """The units with which the model has as many parameters as `wanted`, as near as whole units allow.

    Args:
        spec: The architecture; its own units do not matter.
        wanted: A number of parameters.

    Raises:
        ConfigError: The nearest number is more than 2 % away.
    """
    high = 1
    while count_parameters(with_units(spec, high)) < wanted:
        high *= 2
    low = 1  # the smallest units with `wanted` parameters or more lie in low..high: the count grows with the units
    while low < high:
        middle = (low + high) // 2
        if count_parameters(with_units(spec, middle)) < wanted:
            low = middle + 1
        else:
            high = middle
    candidates = [units for units in (high - 1, high) if units >= 1]
    units = min(candidates, key=lambda units: abs(count_parameters(with_units(spec, units)) - wanted))
    nearest = count_parameters(with_units(spec, units))
    away = (nearest - wanted) / wanted
    if abs(away) > TOLERANCE:
        raise ConfigError(
            f"experiment.equal_parameters: no number of units gives {spec.task} {spec.cell} {wanted:,} parameters, "
            f"within {TOLERANCE:.0%}; the nearest is {nearest:,} with {units} units ({away:+.1%}). Give the section "
            "more units, or set experiment.equal_parameters to null"
        )
    return units
