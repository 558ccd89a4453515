"""A PyTorch model's state dict as a folder that `elman.load` takes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from elman.artifacts import new_folder, sha256_file
from elman.data.tokenizer import MODEL_FILE, Tokenizer
from elman.data.tokenizer_adoption import adopt_tokenizer
from elman.errors import ConversionError
from elman.importing.state_dict import Names, Parts, find_parts
from elman.importing.weights_file import Array, Arrays
from elman.layers.pytorch_weights import load_pytorch_weights
from elman.layers.sequence_pooling import MODES
from elman.models.serving import Cleaning, Serving, TokenizerFile, write_serving
from elman.models.spec import ModelSpec
from elman.models.store import Model, build_model, save_model

_SEED = 0
_UNKNOWN_LOSS = 0.0  # serving.json wants one; a state dict does not tell it
_WINDOW = 64


def import_state_dict(
    arrays: Arrays,
    out: Path,
    *,
    tokenizer: Path,
    labels: Sequence[str] | None = None,
    pooling: str = "last",
    max_length: int = 256,
    names: Names = Names(),  # noqa: B008
    cleaning: Mapping[str, Any],
) -> ModelSpec:
    """Writes `out` with serving.json, the tokenizer and the model in seed-0, whole or not at all.

    Args:
        arrays: The state dict.
        out: Must not exist yet.
        tokenizer: The SentencePiece model.
        labels: A classifier's classes by number; None for a language model.
        pooling: What a classifier's last layer reads: last, mean, max or all.
        max_length: Tokens of a text that a classifier reads, eos included.
        names: What is known of the names in the state dict.
        cleaning: The arguments of `clean_text`.

    Returns:
        What the model is.

    Raises:
        ConversionError: An array or an option does not fit; names it.
        TokenizerError: The tokenizer cannot be used.
        ArtifactError: `out` is there already.
    """
    with new_folder(out) as folder:
        known = adopt_tokenizer(tokenizer, folder / "tokenizer")
        parts = find_parts(arrays, vocab_size=known.vocab_size, names=names)
        spec = _classifier_spec(parts, labels, pooling, known) if labels else _language_model_spec(parts, known)
        own: dict[str, Any] = {"state": "document", "window_length": _WINDOW}
        if labels:
            own = {"labels": tuple(labels), "max_length": max_length}
        serving = _serving(spec, cleaning, folder / "tokenizer", own)
        model = build_model(spec)
        _set_weights(model, parts)
        save_model(model, folder / f"seed-{_SEED}")
        write_serving(folder, serving)
    return spec


def _classifier_spec(parts: Parts, labels: Sequence[str], pooling: str, tokenizer: Tokenizer) -> ModelSpec:
    if pooling not in MODES:
        raise ConversionError(f"--pooling: one of {', '.join(MODES)} is needed, but came {pooling!r}")
    if parts.weight is None:
        raise ConversionError(
            "a classifier needs a linear layer (labels, width) after the recurrent module; found none"
        )
    recurrent = parts.recurrent
    width = recurrent.units * (1 + recurrent.bidirectional)
    read = width * (3 if pooling == "all" else 1)
    rows, columns = parts.weight.shape
    if columns != read:
        hint = "; --pooling all reads three times as much" if columns == 3 * width else ""
        raise ConversionError(
            f"{parts.weight_name} {(rows, columns)}: reads {columns} values, but pooling {pooling} of the recurrent "
            f"module gives {read}{hint}"
        )
    if rows != len(labels):
        raise ConversionError(f"{parts.weight_name} {(rows, columns)}: {rows} classes, but {len(labels)} labels came")
    return _spec(
        parts,
        tokenizer,
        task="classifier",
        num_classes=len(labels),
        pooling=pooling,
        bidirectional=recurrent.bidirectional,
    )


def _language_model_spec(parts: Parts, tokenizer: Tokenizer) -> ModelSpec:
    recurrent, wanted = parts.recurrent, (tokenizer.vocab_size, parts.recurrent.units)
    if recurrent.bidirectional:
        raise ConversionError(
            "a language model that reads backwards too would see what it predicts; if this is a classifier, name its "
            "classes with --labels a,b,c"
        )
    if parts.weight is not None and parts.weight.shape != wanted:
        raise ConversionError(
            f"{parts.weight_name} {parts.weight.shape}: a language model needs {wanted}, the pieces and the units; if "
            "this is a classifier, name its classes with --labels a,b,c"
        )
    if parts.weight is None and parts.embedding.shape != wanted:
        raise ConversionError(f"without a linear layer, the embedding {parts.embedding.shape} must have shape {wanted}")
    tied = parts.weight is None or np.array_equal(parts.weight, parts.embedding)
    return _spec(parts, tokenizer, task="language_model", tie_embeddings=tied)


def _spec(parts: Parts, tokenizer: Tokenizer, **own: Any) -> ModelSpec:
    recurrent = parts.recurrent
    return ModelSpec(
        cell=recurrent.cell,  # type: ignore[arg-type]
        vocab_size=tokenizer.vocab_size,
        embedding_dim=recurrent.input_dim,
        units=recurrent.units,
        num_layers=recurrent.num_layers,
        seed=_SEED,
        **own,
    )


def _serving(spec: ModelSpec, cleaning: Mapping[str, Any], tokenizer: Path, own: Mapping[str, Any]) -> Serving:
    try:
        return Serving(
            task=spec.task,
            cell=spec.cell,
            cleaning=Cleaning(**cleaning),
            tokenizer=TokenizerFile(path=tokenizer.name, sha256=sha256_file(tokenizer / MODEL_FILE)),
            mixed_precision=False,
            valid_loss={_SEED: _UNKNOWN_LOSS},
            **own,
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        option = str(first["loc"][-1]).replace("_", "-")
        raise ConversionError(f"--{option}: {first['msg']}, but came {first['input']!r}") from None


def _set_weights(model: Model, parts: Parts) -> None:
    model.encoder.embedding.embeddings.assign(parts.embedding)
    load_pytorch_weights(model.encoder.recurrent_layers, parts.recurrent.arrays)
    if model.spec.task == "classifier":
        assert parts.weight is not None
        model.head.kernel.assign(parts.weight.T)
        model.head.bias.assign(_bias(parts, model.spec.num_classes))
        return
    if not model.spec.tie_embeddings:
        model.output_kernel.assign(parts.weight)
    model.output_bias.assign(_bias(parts, model.spec.vocab_size))


def _bias(parts: Parts, size: int) -> Array:
    if parts.bias is None:
        return np.zeros(size, np.float32)
    if parts.bias.shape != (size,):
        raise ConversionError(f"the last layer's bias {parts.bias.shape} must have shape {(size,)}")
    return parts.bias
