"""The gates of a recurrent layer at every step, worked out in NumPy from its weights."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elman.errors import ConfigError
from elman.layers.gru import GRU
from elman.layers.lstm import LSTM
from elman.layers.simple_rnn import SimpleRNN

Floats = npt.NDArray[np.float64]


class GateValues(NamedTuple):
    """What a layer did over a sequence.

    Attributes:
        gates: For each gate float64 (T, U): input, forget and output of an LSTM; update and reset of a GRU, where
            update is the share of the old state that stays; none of a simple network.
        keeping: The name of the gate that the old state is multiplied by, or None.
        output: float64 (T, U). h.
    """

    gates: dict[str, Floats]
    keeping: str | None
    output: Floats


def gate_values(layer: Any, inputs: npt.NDArray[Any]) -> GateValues:
    """Runs the layer's equations over one sequence, from a state of zeros.

    Args:
        layer: A built `SimpleRNN`, `LSTM` or `GRU` of `elman.layers`.
        inputs: float (T, D).

    Raises:
        ConfigError: The layer is of another kind, or its activations are not tanh and sigmoid.
    """
    activations = [
        getattr(layer, name).__name__ for name in ("activation", "recurrent_activation") if hasattr(layer, name)
    ]
    if not isinstance(layer, (SimpleRNN, LSTM, GRU)) or activations not in (["tanh"], ["tanh", "sigmoid"]):
        raise ConfigError(
            "gate values are known for SimpleRNN, LSTM and GRU of elman with tanh and sigmoid; got "
            f"{type(layer).__name__} with {', '.join(activations)}"
        )
    cell: Any = layer.cell
    kernel, recurrent = np.asarray(cell.kernel, np.float64), np.asarray(cell.recurrent_kernel, np.float64)
    bias = np.asarray(cell.bias, np.float64) if layer.use_bias else np.zeros(kernel.shape[1])
    x = np.asarray(inputs, np.float64)
    if isinstance(layer, LSTM):
        return _lstm(x @ kernel + bias, recurrent, open_gates=layer.open_gates)
    if isinstance(layer, GRU):
        return _gru(x, kernel, recurrent, bias, reset_after=cell.reset_after)
    return _simple_rnn(x @ kernel + bias, recurrent)


def _lstm(x: Floats, recurrent: Floats, *, open_gates: tuple[str, ...]) -> GateValues:
    """LSTM: c = f c' + i g, h = o tanh(c); x is float (T, 4U) with the bias, columns i, f, g, o."""
    units = recurrent.shape[0]
    h, c = np.zeros(units), np.zeros(units)
    steps = []
    for row in x:
        i, f, g, o = np.split(row + h @ recurrent, 4)
        gates = {"input": _sigmoid(i), "forget": _sigmoid(f), "output": _sigmoid(o)}
        gates.update({name: np.ones(units) for name in open_gates})
        c = gates["forget"] * c + gates["input"] * np.tanh(g)
        h = gates["output"] * np.tanh(c)
        steps.append((*gates.values(), h))
    i, f, o, output = (np.array(part) for part in zip(*steps, strict=True))
    return GateValues({"input": i, "forget": f, "output": o}, "forget", output)


def _gru(x: Floats, kernel: Floats, recurrent: Floats, bias: Floats, *, reset_after: bool) -> GateValues:
    """GRU: h = z h' + (1 - z) g, columns z, r, g; the reset gate works after the product with h' or before it."""
    units = recurrent.shape[0]
    input_bias, state_bias = bias if bias.ndim == 2 else (bias, np.zeros_like(bias))
    h = np.zeros(units)
    steps = []
    for row in x @ kernel + input_bias:
        x_z, x_r, x_g = np.split(row, 3)
        q_z, q_r, q_g = np.split(h @ recurrent + state_bias, 3)
        update, reset = _sigmoid(x_z + q_z), _sigmoid(x_r + q_r)
        candidate = reset * q_g if reset_after else (reset * h) @ recurrent[:, 2 * units :]
        h = update * h + (1.0 - update) * np.tanh(x_g + candidate)
        steps.append((update, reset, h))
    update, reset, output = (np.array(part) for part in zip(*steps, strict=True))
    return GateValues({"update": update, "reset": reset}, "update", output)


def _simple_rnn(x: Floats, recurrent: Floats) -> GateValues:
    """Simple network: h = tanh(x + h' U)."""
    h = np.zeros(recurrent.shape[0])
    steps = []
    for row in x:
        h = np.tanh(row + h @ recurrent)
        steps.append(h)
    return GateValues({}, None, np.array(steps))


def _sigmoid(x: Floats) -> Floats:
    return 0.5 * (1.0 + np.tanh(0.5 * x))
