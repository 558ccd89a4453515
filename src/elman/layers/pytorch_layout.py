"""Which Keras layers have a counterpart among PyTorch's recurrent modules, and what its weights are called there."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import keras
import numpy as np
import numpy.typing as npt

from elman.errors import ConversionError

Array = npt.NDArray[Any]
Nonlinearity = Literal["tanh", "relu"]

_GATES = {keras.layers.SimpleRNN: 1, keras.layers.LSTM: 4, keras.layers.GRU: 3}


class Part(NamedTuple):
    """One direction of one layer.

    Attributes:
        layer: SimpleRNN, LSTM or GRU.
        gates: G.
        suffix: What PyTorch's names of its weights end in.
        input_dim: D; None for a first layer that is not built.
    """

    layer: Any
    gates: int
    suffix: str
    input_dim: int | None

    def shapes(self) -> dict[str, tuple[int | None, ...]]:
        """Return PyTorch's names of the weights, with their shapes."""
        rows, units = self.gates * self.layer.units, self.layer.units
        shapes: dict[str, tuple[int | None, ...]] = {"weight_ih": (rows, self.input_dim), "weight_hh": (rows, units)}
        if self.layer.use_bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        return {f"{name}_{self.suffix}": shape for name, shape in shapes.items()}


def parts_of(layers: Sequence[Any], nonlinearity: Nonlinearity) -> list[Part]:
    """Return the directions of stacked layers from the input up.

    Raises:
        ConversionError: `nn.RNN`, `nn.LSTM` and `nn.GRU` cannot be what the layers are.
    """
    parts: list[Part] = []
    width: int | None = None
    for number, layer in enumerate(layers):
        directions = _directions(layer)
        for direction, suffix in zip(directions, ("", "_reverse"), strict=False):
            gates = _checked_gates(direction, nonlinearity)
            if direction.go_backwards != bool(suffix):
                raise ConversionError(
                    f"Layer {direction.name!r} has go_backwards={direction.go_backwards}; PyTorch reads backwards only "
                    "as the second direction of a bidirectional module."
                )
            input_dim = direction.cell.kernel.shape[0] if direction.built else width
            if width not in (None, input_dim):
                raise ConversionError(f"Layer {direction.name!r} takes {input_dim} inputs; {width} come from below it.")
            parts.append(Part(direction, gates, f"l{number}{suffix}", input_dim))
        width = len(directions) * directions[0].units
    kinds = {(part.gates, part.layer.units, part.layer.use_bias) for part in parts}
    if len(kinds) != 1 or len({len(_directions(layer)) for layer in layers}) != 1:
        raise ConversionError(
            "A PyTorch module has one kind of cell, one number of units and of directions in all layers, and "
            f"biases everywhere or nowhere; these layers have not: {[part.layer.name for part in parts]}."
        )
    return parts


def check_arrays(parts: Sequence[Part], arrays: Mapping[str, Array]) -> None:
    """Compare a state dict with what the layers want.

    Raises:
        ConversionError: A name is missing or unknown, or an array has another shape, is no float or is not finite.
    """
    wanted = {name: shape for part in parts for name, shape in part.shapes().items()}
    if any(name.startswith("weight_hr") for name in arrays):
        raise ConversionError(
            "The state dict has weight_hr: an LSTM with a projection (proj_size) cannot be converted."
        )
    numbers = [{int(n) for n in re.findall(r"_l(\d+)", " ".join(names))} for names in (arrays, wanted)]
    if len(numbers[0]) != len(numbers[1]):
        raise ConversionError(f"The state dict holds {len(numbers[0])} layers, but {len(numbers[1])} are to take them.")
    missing, unknown = sorted(set(wanted) - set(arrays)), sorted(set(arrays) - set(wanted))
    if missing or unknown:
        hint = "; use_bias must be what PyTorch's bias is" if any("bias" in name for name in missing + unknown) else ""
        hint += "; Bidirectional and bidirectional=True go together" if "_reverse" in f"{missing}{unknown}" else ""
        raise ConversionError(
            f"The state dict lacks {missing or 'nothing'} and has {unknown or 'nothing'} beyond{hint}."
        )
    for name, shape in wanted.items():
        _check_array(name, arrays[name], shape)
    for name in wanted:  # layers that are not built take any number of inputs, but both directions the same
        forward, backward = (arrays[n].shape for n in (name.removesuffix("_reverse"), name))
        if forward != backward:
            raise ConversionError(f"{name} has the shape {backward}, and its other direction {forward}.")


def _check_array(name: str, array: Array, shape: tuple[int | None, ...]) -> None:
    fits = len(array.shape) == len(shape) and all(w in (None, f) for f, w in zip(array.shape, shape, strict=True))
    if not fits:
        text = str(tuple("any" if size is None else size for size in shape)).replace("'", "")
        raise ConversionError(f"{name} must have the shape {text}, got {array.shape}: are cell and units the same?")
    if not np.issubdtype(array.dtype, np.floating):
        raise ConversionError(f"{name} must be an array of floats, got {array.dtype}.")
    if not np.isfinite(array).all():
        raise ConversionError(f"{name} holds NaN or infinity.")


def _directions(layer: Any) -> list[Any]:
    if not isinstance(layer, keras.layers.Bidirectional):
        return [layer]
    if layer.merge_mode != "concat":
        raise ConversionError(f"merge_mode of layer {layer.name!r} must be 'concat', got {layer.merge_mode!r}.")
    return [layer.forward_layer, layer.backward_layer]


def _checked_gates(layer: Any, nonlinearity: Nonlinearity) -> int:
    """Return the number of gates of a layer that has a counterpart."""
    gates = next((gates for cls, gates in _GATES.items() if isinstance(layer, cls)), None)
    if gates is None:
        raise ConversionError(f"Only SimpleRNN, LSTM and GRU can be converted, got {type(layer).__name__}.")
    if getattr(layer, "open_gates", ()):
        raise ConversionError(f"Layer {layer.name!r} has open_gates={layer.open_gates}, which PyTorch does not have.")
    if not getattr(layer, "reset_after", True):
        raise ConversionError(
            f"Layer {layer.name!r} has reset_after=False; PyTorch's GRU resets after the product: use reset_after=True."
        )
    wanted = {"activation": nonlinearity} if gates == 1 else {"activation": "tanh", "recurrent_activation": "sigmoid"}
    for option, name in wanted.items():
        found = getattr(layer, option)
        if found is not keras.activations.get(name):
            found = getattr(found, "__name__", found)
            raise ConversionError(f"{option} of layer {layer.name!r} must be {name!r} to match PyTorch, got {found!r}.")
    return gates
