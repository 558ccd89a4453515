"""Recurrent layers as ONNX's own operators `RNN`, `LSTM` and `GRU`, which every runtime has a fast kernel for.

ONNX stacks gates in the rows of W (directions, G U, D) and R (directions, G U, U), and has two biases, of the input and
of the recurrent product, one behind the other in B (directions, 2 G U). Its order of gates is i, o, f, c for the LSTM
and z, r, h for the GRU; Keras has i, f, c, o and z, r, h in columns. `linear_before_reset` is Keras' `reset_after`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from elman.errors import ConversionError
from elman.exporting.onnx_nodes import Array, OnnxNodes

_OPERATORS: dict[Any, tuple[str, tuple[int, ...]]] = {
    keras.layers.SimpleRNN: ("RNN", (0,)),
    keras.layers.LSTM: ("LSTM", (0, 3, 1, 2)),
    keras.layers.GRU: ("GRU", (0, 1, 2)),
}


class Recurred(NamedTuple):
    """Names of what a recurrent operator gives.

    Attributes:
        sequence: float (T, B, directions U). Zeros behind a row's last true step.
        states: float (directions, B, U) each: h, and c of an LSTM, after each row's last true step.
    """

    sequence: str
    states: list[str]


def add_recurrent(
    nodes: OnnxNodes, layer: Any, sequence: str, *, lengths: str = "", states: Sequence[str] = ()
) -> Recurred:
    """Adds one layer.

    Args:
        nodes: The graph so far.
        layer: Built: SimpleRNN, LSTM or GRU, or Bidirectional of two of a kind.
        sequence: float (T, B, D).
        lengths: int32 (B,). True steps of each row; "" where all are.
        states: float (1, B, U) each, to begin with; empty for zeros.

    Raises:
        ConversionError: ONNX has no operator that computes what the layer does.
    """
    both = isinstance(layer, keras.layers.Bidirectional)
    directions = [layer.forward_layer, layer.backward_layer] if both else [layer]
    operator, order = next(found for kind, found in _OPERATORS.items() if isinstance(directions[0], kind))
    arrays = [np.stack(parts) for parts in zip(*(_arrays(part, order) for part in directions), strict=True)]
    weights = [nodes.constant(array, f"{layer.name}_{name}") for name, array in zip("WRB", arrays, strict=True)]
    attributes: dict[str, Any] = {"hidden_size": directions[0].units}
    attributes["direction"] = "bidirectional" if both else "forward"
    if operator == "GRU":
        attributes["linear_before_reset"] = 1
    inputs = [sequence, *weights, lengths, *states]
    outputs, *last = nodes.add_many(operator, *inputs, outputs=3 if operator == "LSTM" else 2, **attributes)
    side_by_side = nodes.add("Transpose", outputs, perm=[0, 2, 1, 3])  # (T, B, directions, U)
    shape = nodes.constant(np.array([0, 0, -1], np.int64))  # 0: as it is
    return Recurred(nodes.add("Reshape", side_by_side, shape), last)


def _arrays(layer: Any, order: Sequence[int]) -> tuple[Array, Array, Array]:
    """W (G U, D), R (G U, U) and B (2 G U,) of one direction, float32."""
    cell = layer.cell
    sigmoid = getattr(layer, "recurrent_activation", keras.activations.sigmoid)
    if layer.activation is not keras.activations.tanh or sigmoid is not keras.activations.sigmoid:
        raise ConversionError(
            f"Layer {layer.name!r} has another activation than tanh and sigmoid: not exported to ONNX."
        )
    if getattr(layer, "open_gates", ()) or not getattr(cell, "reset_after", True):
        raise ConversionError(
            f"Layer {layer.name!r} has reset_after=False or open_gates: ONNX's operators do not compute that."
        )
    count = len(order)

    def gates(array: Any) -> Array:
        """The columns' gates, in ONNX's order, as rows."""
        parts = np.split(np.asarray(array, np.float32), count, axis=-1)
        return np.concatenate([parts[place] for place in order], axis=-1).T

    bias = np.zeros((2, count * layer.units), np.float32)
    if layer.use_bias:
        given = np.asarray(cell.bias, np.float32)
        bias[: 2 if given.ndim == 2 else 1] = given
    return gates(cell.kernel), gates(cell.recurrent_kernel), np.concatenate([gates(bias[0]), gates(bias[1])])
