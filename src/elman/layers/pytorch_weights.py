"""Weights to and from PyTorch's `nn.RNN`, `nn.LSTM` and `nn.GRU`, as NumPy arrays by state-dict name; needs no torch.

For layer l and, behind the names, `_reverse` for the way back, PyTorch keeps `weight_ih_l{l}` (G U, D),
`weight_hh_l{l}` (G U, U), `bias_ih_l{l}` and `bias_hh_l{l}` (G U). Keras' kernels are the transposes. The blocks of an
LSTM stand in the same order, i f g o; those of a GRU are r z n in PyTorch and z r n in Keras. A GRU keeps both biases,
since the reset gate works on one of them only; an RNN or LSTM adds its two up, so Keras has one: it is their sum.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import keras
import numpy as np

from elman.errors import ConversionError
from elman.layers.pytorch_layout import Array, Nonlinearity, Part, check_arrays, parts_of

Layers: TypeAlias = keras.layers.Layer | Sequence[keras.layers.Layer]


def load_pytorch_weights(layers: Layers, state_dict: Mapping[str, Any], *, nonlinearity: Nonlinearity = "tanh") -> None:
    """Give Keras layers the weights of a PyTorch module; outputs and last states are then the same.

    Args:
        layers: A layer, or the stacked layers from the input up: SimpleRNN, LSTM or GRU, or Bidirectional around one.
            Layers that are not built yet are built.
        state_dict: Float arrays by the names of the module's `state_dict()`; an open `.npz` file will do.
        nonlinearity: That of the `nn.RNN`, which a state dict does not tell.

    Raises:
        ConversionError: A name, shape, number or option has no counterpart. No layer has been changed then.

    Example:
        >>> from elman.layers.lstm import LSTM
        >>> source, copy = LSTM(4), LSTM(4)
        >>> source.build((None, None, 3))
        >>> load_pytorch_weights(copy, pytorch_weights(source))
        >>> bool((source.get_weights()[0] == copy.get_weights()[0]).all())
        True
    """
    parts = parts_of(_as_list(layers), nonlinearity)
    arrays = {name: np.asarray(state_dict[name]) for name in state_dict}
    check_arrays(parts, arrays)
    for number, layer in enumerate(_as_list(layers)):
        if not layer.built:
            layer.build((None, None, arrays[f"weight_ih_l{number}"].shape[1]))
    for part in parts:
        part.layer.set_weights(_to_keras(part, arrays))


def pytorch_weights(layers: Layers, *, nonlinearity: Nonlinearity = "tanh") -> dict[str, Array]:
    """Return the weights of Keras layers by the names of a PyTorch module's `state_dict()`.

    An RNN's or LSTM's bias becomes `bias_ih`, and `bias_hh` is zero, so that a gate sees what it saw before.

    Args:
        layers: As in `load_pytorch_weights`, all built.
        nonlinearity: That of the `nn.RNN` they are meant for.

    Raises:
        ConversionError: A layer is not built, or has an option without counterpart.
    """
    parts = parts_of(_as_list(layers), nonlinearity)
    arrays: dict[str, Array] = {}
    for part in parts:
        if not part.layer.built:
            raise ConversionError(f"Layer {part.layer.name!r} has no weights yet: build it, or call it once.")
        arrays |= _to_pytorch(part)
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ConversionError(f"{name}: the layer's weight holds NaN or infinity.")
    return arrays


def _to_keras(part: Part, arrays: Mapping[str, Array]) -> list[Array]:
    kernel, recurrent, *biases = (_reorder(arrays[name], part.gates) for name in part.shapes())
    if not biases:
        return [kernel.T, recurrent.T]
    return [kernel.T, recurrent.T, np.stack(biases) if part.gates == 3 else biases[0] + biases[1]]


def _to_pytorch(part: Part) -> dict[str, Array]:
    kernel, recurrent, *bias = part.layer.get_weights()
    found = [kernel.T, recurrent.T]
    if bias:
        found += list(bias[0]) if part.gates == 3 else [bias[0], np.zeros_like(bias[0])]
    return {
        name: np.ascontiguousarray(_reorder(array, part.gates))
        for name, array in zip(part.shapes(), found, strict=True)
    }


def _reorder(array: Array, gates: int) -> Array:
    """Swap the first two blocks of a GRU's rows, (3U, ...): r z n to z r n, and back."""
    if gates != 3:
        return array
    first, second, third = np.split(array, 3)
    return np.concatenate([second, first, third])


def _as_list(layers: Layers) -> list[Any]:
    return list(layers) if isinstance(layers, Sequence) else [layers]
