"""What a model is, apart from its weights: plain values that travel with it as model.json."""

import dataclasses
from typing import Any, Literal, Self

from elman.errors import ArtifactError

VERSION = 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """The architecture of a classifier or a language model.

    Attributes:
        task: Which head stands on the encoder.
        cell: Which recurrent layer it is made of.
        vocab_size: V, the tokenizer's real size.
        num_classes: C; 0 for a language model.
        embedding_dim: D.
        units: U, a direction.
        num_layers: L.
        bidirectional: Classifier only.
        pooling: Classifier only: last, mean, max or all.
        tie_embeddings: Language model only: the output product uses the embedding.
        word_dropout: Share of word types a document loses in training.
        embedding_dropout: Dropout after the embedding.
        dropout: Dropout between layers and before the head.
        recurrent_dropout: Dropout on the state inside the recurrence.
        dropout_kind: "locked" drops the same features at all steps, "step" draws anew at each step.
        forget_bias: What the LSTM's forget gate sees at the start.
        initializer: For embedding and output weights.
        kernel_initializer: For the recurrent layers' input weights; None is the same as `initializer`.
        recurrent_initializer: For recurrent weights.
        uniform_range: Half width of "uniform"; that of "uniform_by_units" is 1 / sqrt(units).
        seed: Names initial weights and dropout.
    """

    task: Literal["classifier", "language_model"]
    cell: Literal["simple_rnn", "lstm", "gru"]
    vocab_size: int
    num_classes: int = 0
    embedding_dim: int
    units: int
    num_layers: int = 1
    bidirectional: bool = False
    pooling: str = "last"
    tie_embeddings: bool = False
    word_dropout: float = 0.0
    embedding_dropout: float = 0.0
    dropout: float = 0.0
    recurrent_dropout: float = 0.0
    dropout_kind: Literal["locked", "step"] = "locked"
    forget_bias: float = 1.0
    initializer: str = "glorot_uniform"
    kernel_initializer: str | None = None
    recurrent_initializer: str = "orthogonal"
    uniform_range: float = 0.1
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain values for model.json."""
        return {"version": VERSION, **dataclasses.asdict(self)}

    @classmethod
    def from_json(cls, value: Any, *, source: str) -> Self:
        """The inverse of `to_json`.

        Raises:
            ArtifactError: No object, another version, keys that this version does not know, or one is missing.
        """
        if not isinstance(value, dict):
            raise ArtifactError(f"{source}: a model description is a JSON object, but came a {type(value).__name__}")
        known = {field.name for field in dataclasses.fields(cls)}
        needed = {field.name for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING}
        found = set(value) - {"version"}
        if value.get("version") != VERSION or not found <= known:
            raise ArtifactError(
                f"{source}: expected a model description of version {VERSION}; found version {value.get('version')} "
                f"with unknown keys {sorted(found - known)}; train it again"
            )
        if not needed <= found:
            raise ArtifactError(f"{source}: lacks {', '.join(sorted(needed - found))}; train it again")
        return cls(**{key: value[key] for key in found})
