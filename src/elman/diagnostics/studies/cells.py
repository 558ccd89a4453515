"""The cells that the studies compare, by name: the three layers, and the LSTM with one part taken away."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import keras

from elman.errors import ConfigError
from elman.layers.gru import GRU
from elman.layers.lstm import LSTM
from elman.layers.simple_rnn import SimpleRNN
from elman.seeding import derive_seed

_LAYERS = {"simple_rnn": SimpleRNN, "lstm": LSTM, "gru": GRU}


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A layer and its options.

    Attributes:
        title: What tables and figures call it.
        cell: The layer: simple_rnn, lstm or gru.
        options: Further arguments of the layer.
    """

    title: str
    cell: str
    options: Mapping[str, Any] = field(default_factory=dict)


VARIANTS = {
    "simple_rnn": Variant(title="SimpleRNN", cell="simple_rnn"),
    "lstm": Variant(title="LSTM", cell="lstm"),
    "gru": Variant(title="GRU", cell="gru"),
    "lstm_1997": Variant(title="LSTM of 1997 (no forget gate)", cell="lstm", options={"open_gates": ("forget",)}),
    "lstm_input_open": Variant(title="LSTM, input gate open", cell="lstm", options={"open_gates": ("input",)}),
    "lstm_output_open": Variant(title="LSTM, output gate open", cell="lstm", options={"open_gates": ("output",)}),
    "lstm_forget_bias_0": Variant(title="LSTM, forget bias 0", cell="lstm", options={"forget_bias": 0.0}),
}


def check_cells(names: Sequence[str]) -> None:
    """Refuses names that are not in `VARIANTS`.

    Raises:
        ConfigError: A name is unknown, or none came.
    """
    unknown = [name for name in names if name not in VARIANTS]
    if unknown or not names:
        raise ConfigError(f"cells must be some of {', '.join(VARIANTS)}; got {', '.join(unknown) or 'none'}")


def count_parameters(name: str, layer: keras.layers.Layer) -> int:
    """The layer's weights, without those of gates that are held open: they are there, and have no effect."""
    held = len(VARIANTS[name].options.get("open_gates", ()))
    return int(layer.count_params()) // 4 * (4 - held) if held else int(layer.count_params())


def make_layer(name: str, *, units: int, seed: int) -> keras.layers.Layer:
    """A layer of `VARIANTS` that returns all outputs and the last states, with initial weights that the seed names.

    The input weights start Glorot uniform, the recurrent ones orthogonal, the biases at 0 but for the forget gate's.
    """
    variant = VARIANTS[name]
    return _LAYERS[variant.cell](
        units,
        kernel_initializer=keras.initializers.GlorotUniform(seed=derive_seed(seed, "kernel")),
        recurrent_initializer=keras.initializers.Orthogonal(seed=derive_seed(seed, "recurrent")),
        return_sequences=True,
        return_state=True,
        **variant.options,
    )
