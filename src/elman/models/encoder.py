"""Token ids to states: the part that classifier and language model share."""

from typing import Any, NamedTuple

import keras

from elman.layers.gru import GRU
from elman.layers.lstm import LSTM
from elman.layers.simple_rnn import SimpleRNN
from elman.layers.word_dropout import WordDropout
from elman.models.spec import ModelSpec
from elman.seeding import derive_seed

CELLS = {"simple_rnn": SimpleRNN, "lstm": LSTM, "gru": GRU}

State = tuple[Any, ...]


class Encoded(NamedTuple):
    """What the encoder returns.

    Attributes:
        sequence: float (B, T, U). The top layer's output at each step; (B, T, 2 U) when bidirectional.
        last_state: float (B, U). The top layer's output state after each row's last true step.
        state: All layers' states, to carry into the next window: h a layer, for LSTM h and c a layer, each (B, U).
    """

    sequence: Any
    last_state: Any
    state: State


def states_per_layer(cell: str) -> int:
    """2 for LSTM (h and c), 1 for the others."""
    return 2 if cell == "lstm" else 1


@keras.saving.register_keras_serializable(package="elman")
class Encoder(keras.layers.Layer):
    """Embedding, dropout, and one or more recurrent layers.

    **Masking**: uses and forwards, as an explicit argument; nothing relies on Keras' implicit masks.

    Args:
        spec: The architecture.
    """

    def __init__(self, spec: ModelSpec, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.spec = spec
        self.word_dropout = WordDropout(
            rate=spec.word_dropout, vocab_size=spec.vocab_size, seed=self._seed("word_dropout"), name="word_dropout"
        )
        self.embedding = keras.layers.Embedding(
            spec.vocab_size,
            spec.embedding_dim,
            embeddings_initializer=self._embedding_initializer(),
            name="embedding",
        )
        self.embedding_dropout = make_dropout(spec, spec.embedding_dropout, self._seed("embedding_dropout"))
        self.layer_dropouts = [
            make_dropout(spec, spec.dropout, self._seed("dropout", index)) for index in range(1, spec.num_layers)
        ]
        self.recurrent_layers = [self._recurrent(index) for index in range(spec.num_layers)]

    def build(self, *_: Any, **__: Any) -> None:
        """Creates all weights."""
        width = self.spec.embedding_dim
        self.embedding.build()
        for layer in self.recurrent_layers:
            layer.build((None, None, width))
            width = self.output_dim
        self.built = True

    @property
    def output_dim(self) -> int:
        """U, or 2 U when bidirectional."""
        return self.spec.units * (2 if self.spec.bidirectional else 1)

    def call(
        self, token_ids: Any, padding_mask: Any, initial_state: State | None = None, training: bool = False
    ) -> Encoded:
        """Runs all layers.

        Args:
            token_ids: int32 (B, T).
            padding_mask: bool (B, T). True where a token is real; at least one in each row.
            initial_state: The `state` of an earlier call for the same rows, or None for zeros.
            training: Whether dropout works.

        Returns:
            The outputs and the states; see `Encoded`.
        """
        return self.encode(self.embed(token_ids, training), padding_mask, initial_state, training)

    def embed(self, token_ids: Any, training: bool = False) -> Any:
        """The first half of `call`: float (B, T, D), a vector a token, before any of its features are dropped."""
        return self.embedding(self.word_dropout(token_ids, training=training))

    def encode(
        self, embedded: Any, padding_mask: Any, initial_state: State | None = None, training: bool = False
    ) -> Encoded:
        """The second half of `call`, from the vectors that `embed` gives; the other arguments as there."""
        outputs = self.embedding_dropout(embedded, training=training)  # (B, T, D)
        per_layer = states_per_layer(self.spec.cell)
        state: list[Any] = []
        last_state: Any = None
        for index, layer in enumerate(self.recurrent_layers):
            if index > 0:
                outputs = self.layer_dropouts[index - 1](outputs, training=training)
            initial = None
            if initial_state is not None:
                initial = list(initial_state[index * per_layer : (index + 1) * per_layer])
            outputs, *new_state = layer(outputs, initial_state=initial, mask=padding_mask, training=training)
            state.extend(new_state)
            # (B, U); forward and backward state side by side when bidirectional
            last_state = (
                keras.ops.concatenate(new_state[::per_layer], axis=-1) if self.spec.bidirectional else new_state[0]
            )
        return Encoded(outputs, last_state, tuple(state))

    def zero_state(self, batch_size: Any) -> State:
        """The state at the start of a document: zeros (B, U), one for each layer and kind of state."""
        count = self.spec.num_layers * states_per_layer(self.spec.cell) * (2 if self.spec.bidirectional else 1)
        zeros = keras.ops.zeros((batch_size, self.spec.units), dtype=self.compute_dtype)
        return (zeros,) * count

    def get_config(self) -> dict[str, Any]:
        """The spec as plain values."""
        return {**super().get_config(), "spec": self.spec.to_json()}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Encoder":
        """The inverse of `get_config`."""
        return cls(ModelSpec.from_json(config.pop("spec"), source="Encoder.from_config"), **config)

    def _seed(self, *names: str | int) -> int:
        return derive_seed(self.spec.seed, "model", *names)

    def _embedding_initializer(self) -> Any:
        # Keras' own range for embeddings is 0.05; glorot would depend on V, which says nothing about a row's size.
        limit = self.spec.uniform_range if self.spec.initializer == "uniform" else 0.05
        return keras.initializers.RandomUniform(-limit, limit, seed=self._seed("embedding"))

    def _recurrent(self, index: int) -> Any:
        spec = self.spec
        kernel = spec.kernel_initializer or spec.initializer
        arguments: dict[str, Any] = {
            "units": spec.units,
            "kernel_initializer": make_initializer(spec, kernel, self._seed("kernel", index)),
            "recurrent_initializer": make_initializer(spec, spec.recurrent_initializer, self._seed("recurrent", index)),
            "recurrent_dropout": spec.recurrent_dropout,
            "return_sequences": True,
            "return_state": True,
            "seed": self._seed("recurrent_dropout", index),
            "name": f"{spec.cell}_{index + 1}",
        }
        if spec.cell == "lstm":
            arguments["forget_bias"] = spec.forget_bias
        layer = CELLS[spec.cell](**arguments)
        if not spec.bidirectional:
            return layer
        backward = CELLS[spec.cell](
            **{
                **arguments,
                "kernel_initializer": make_initializer(spec, kernel, self._seed("kernel", index, "back")),
                "recurrent_initializer": make_initializer(
                    spec, spec.recurrent_initializer, self._seed("recurrent", index, "back")
                ),
                "go_backwards": True,
                "name": f"{spec.cell}_{index + 1}_backward",
            }
        )
        return keras.layers.Bidirectional(layer, backward_layer=backward, name=f"bidirectional_{index + 1}")


def make_initializer(spec: ModelSpec, name: str, seed: int) -> Any:
    """The initialiser of one weight, with a seed of its own; `uniform_by_units` is PyTorch's for recurrent layers."""
    if name == "uniform_by_units":
        limit = spec.units**-0.5
        return keras.initializers.RandomUniform(-limit, limit, seed=seed)
    if name == "uniform":
        return keras.initializers.RandomUniform(-spec.uniform_range, spec.uniform_range, seed=seed)
    if name == "orthogonal":
        return keras.initializers.Orthogonal(seed=seed)
    return keras.initializers.GlorotUniform(seed=seed)


def make_dropout(spec: ModelSpec, rate: float, seed: int) -> Any:
    """Dropout on (B, T, features): locked over the steps (Gal and Ghahramani 2016), or drawn anew at each step."""
    kind = keras.layers.SpatialDropout1D if spec.dropout_kind == "locked" else keras.layers.Dropout
    return kind(rate, seed=seed)
