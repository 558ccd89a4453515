"""The state of a stream as bytes: arrays and JSON in NumPy's npz format, without pickle, for one model only."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from elman.data.tokenizer import Tokenizer
from elman.errors import ArtifactError
from elman.models.serving import Serving
from elman.models.store import Model
from elman.using.streaming.carried import Array, Carried

VERSION = 1

# RuntimeError and its NotImplementedError: bits that call a member of the archive encrypted, or packed in another way.
_DAMAGED = (ValueError, KeyError, EOFError, OSError, AttributeError, TypeError, RuntimeError, zipfile.BadZipFile)


def fingerprint(model: Model, tokenizer: Tokenizer, serving: Serving) -> str:
    """SHA-256 of all that a stream's state depends on: architecture, weights, tokenizer, cleaning, length."""
    own = serving.model_dump(mode="json", include={"task", "cleaning", "labels", "max_length", "state"})
    digest = hashlib.sha256(json.dumps([model.spec.to_json(), own], sort_keys=True).encode())
    digest.update(hashlib.sha256(tokenizer.serialized).digest())
    for weight in model.weights:
        digest.update(np.ascontiguousarray(weight.numpy()).tobytes())
    return digest.hexdigest()


def to_bytes(carried: Carried, texts: Mapping[str, Mapping[str, Any]], *, model: str) -> bytes:
    """One stream.

    Args:
        carried: Of the model.
        texts: What cleaning and tokenizer hold, by name.
        model: Its fingerprint.
    """
    counts = {"last": carried.last, "num_tokens": carried.num_tokens, "nll_nats": carried.nll_nats}
    facts = json.dumps({"version": VERSION, "model": model, **counts, **texts})
    arrays: dict[str, Any] = {f"{kind}/{number}": array for kind, number, array in _named(carried)}
    written = io.BytesIO()
    np.savez(written, facts=np.frombuffer(facts.encode(), np.uint8), **arrays)
    return written.getvalue()


def from_bytes(data: bytes, *, like: Carried, model: str, source: str) -> tuple[Carried, dict[str, dict[str, Any]]]:
    """The inverse of `to_bytes`.

    Args:
        data: What `to_bytes` gave.
        like: At the beginning of a text, for number and shapes of the arrays.
        model: The fingerprint of the model that is to go on.
        source: Named in errors.

    Raises:
        ArtifactError: The bytes are damaged, of another version, or of another model.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        facts = json.loads(arrays.pop("facts").tobytes().decode())
        version, made_by = facts.pop("version"), facts.pop("model")
    except _DAMAGED as error:
        raise ArtifactError(f"{source}: no state of a stream, or damaged ({error}); begin a new stream") from None
    if version != VERSION:
        raise ArtifactError(f"{source}: version {VERSION} is needed, found {version!r}; begin a new stream")
    if made_by != model:
        raise ArtifactError(
            f"{source}: the state of another model (sha256 {made_by}) than the one that is to go on ({model}): other "
            "weights, tokenizer or cleaning. Load that model, or begin a new stream"
        )
    wanted = {f"{kind}/{number}": array for kind, number, array in _named(like)}
    shapes = {name: (array.dtype, array.shape) for name, array in arrays.items()}
    if shapes != {name: (array.dtype, array.shape) for name, array in wanted.items()}:
        raise ArtifactError(f"{source}: damaged: holds {sorted(arrays)} instead of {sorted(wanted)}, or other shapes")
    kinds: dict[str, list[Array]] = {"state": [], "pooled": []}
    for kind, number, _ in _named(like):
        kinds[kind].append(arrays[f"{kind}/{number}"])
    counts = {name: facts.pop(name) for name in ("last", "num_tokens", "nll_nats")}
    return Carried(tuple(kinds["state"]), tuple(kinds["pooled"]), **counts), facts


def _named(carried: Carried) -> list[tuple[str, int, Array]]:
    groups = {"state": carried.state, "pooled": carried.pooled}
    return [(kind, number, array) for kind, arrays in groups.items() for number, array in enumerate(arrays)]
