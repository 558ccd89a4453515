"""Which arrays of a PyTorch state dict are the embedding, the recurrent module and the last layer."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from elman.errors import ConversionError
from elman.importing.weights_file import Array, Arrays

_FIRST = "weight_ih_l0"
_RECURRENT = re.compile(r"(weight_ih|weight_hh|weight_hr|bias_ih|bias_hh)_l\d+(_reverse)?")
_CELLS = {1: "simple_rnn", 3: "gru", 4: "lstm"}


class Names(NamedTuple):
    """What the user says of the names; None where they are to be found.

    Attributes:
        embedding: Of the embedding's weight.
        recurrent: What those of the recurrent module begin with, without the dot.
        linear: Of the last layer's weight.
    """

    embedding: str | None = None
    recurrent: str | None = None
    linear: str | None = None


class Recurrent(NamedTuple):
    """The recurrent module.

    Attributes:
        arrays: By PyTorch's own names, which begin with weight_ or bias_; all biases are there.
        cell: simple_rnn, lstm or gru.
        input_dim: D.
        units: U.
        num_layers: L.
        bidirectional: Whether there is a way back.
    """

    arrays: Arrays
    cell: str
    input_dim: int
    units: int
    num_layers: int
    bidirectional: bool


class Parts(NamedTuple):
    """The parts of a model.

    Attributes:
        embedding: float32 (V, D).
        recurrent: What stands on it.
        weight: float32 (C, P) or (V, U), of the last layer; None where the file has none, since it is the embedding.
        weight_name: Its name.
        bias: float32 (C,) or (V,); None where the last layer has none.
    """

    embedding: Array
    recurrent: Recurrent
    weight: Array | None
    weight_name: str
    bias: Array | None


def find_parts(arrays: Arrays, *, vocab_size: int, names: Names) -> Parts:
    """Finds the parts by shape and by what their names end in.

    Args:
        arrays: The state dict.
        vocab_size: V, of the tokenizer.
        names: What is known of the names.

    Raises:
        ConversionError: A part is missing or could be several, a shape does not fit, or an array is left over.
    """
    rest = dict(arrays)
    recurrent = _take_recurrent(rest, names.recurrent)
    embedding = rest.pop(_embedding_name(rest, recurrent.input_dim, vocab_size, names.embedding))
    weight_name = _linear_name(rest, names.linear)
    weight = rest.pop(weight_name) if weight_name else None
    vectors = [name for name, array in rest.items() if array.ndim == 1]
    bias = rest.pop(_bias_name(weight_name) if weight_name else "".join(vectors[:1]), None)
    if rest:
        raise ConversionError(
            f"{_listed(rest)}: nothing here takes that: a model is an embedding, one RNN, LSTM or GRU, and one linear "
            "layer. Leave out of the file what is not of the model"
        )
    return Parts(embedding, recurrent, weight, weight_name, bias)


def _take_recurrent(rest: Arrays, prefix: str | None) -> Recurrent:
    """Moves the recurrent module's arrays out of `rest`."""
    prefixes = [name.removesuffix(_FIRST) for name in rest if name.endswith(_FIRST)]
    if prefix is not None:
        prefixes = [one for one in prefixes if one.rstrip(".") == prefix.rstrip(".")]
    if len(prefixes) != 1:
        found = " and ".join(repr(one.rstrip(".")) for one in prefixes) or "none"
        raise ConversionError(
            f"one recurrent module is needed, whose names end in {_FIRST} and so on; found {found}. Name one with "
            f"--recurrent; the file has {_listed(rest)}"
        )
    start = prefixes[0]
    taken = [name for name in rest if name.startswith(start) and _RECURRENT.fullmatch(name.removeprefix(start))]
    arrays = {name.removeprefix(start): rest.pop(name) for name in taken}
    if "weight_hh_l0" not in arrays:
        raise ConversionError(f"{start}weight_hh_l0 is missing beside {start}{_FIRST}")
    rows, units = _shape(arrays, "weight_hh_l0", start)
    input_dim = _shape(arrays, _FIRST, start)[1]
    cell = _CELLS.get(rows // max(units, 1)) if units and rows % units == 0 else None
    if cell is None:
        raise ConversionError(
            f"{start}weight_hh_l0 {(rows, units)}: an RNN has as many rows as columns, a GRU 3 times as many, an "
            "LSTM 4 times; an LSTM with a projection (proj_size) cannot be converted"
        )
    if not any("bias" in name for name in arrays):  # bias=False: our cells have one, and zeros are the same
        for name in [name for name in arrays if name.startswith(("weight_ih", "weight_hh"))]:
            arrays[name.replace("weight", "bias")] = np.zeros(len(arrays[name]), np.float32)
    layers = sum(name.startswith("weight_ih") and not name.endswith("_reverse") for name in arrays)
    back = any(name.endswith("_reverse") for name in arrays)
    return Recurrent(arrays, cell, input_dim, units, layers, back)


def _shape(arrays: Arrays, name: str, start: str) -> tuple[int, int]:
    array = arrays[name]
    if array.ndim != 2:
        raise ConversionError(f"{start}{name} {array.shape}: a matrix is needed")
    return array.shape[0], array.shape[1]


def _embedding_name(rest: Arrays, width: int, vocab_size: int, given: str | None) -> str:
    named = [name for name, array in rest.items() if array.ndim == 2 and ("emb" in name.lower() or name == given)]
    fitting = [name for name, array in rest.items() if array.shape == (vocab_size, width)]
    if given is not None:
        fitting = [name for name in fitting if name == given]
    if len(fitting) > 1:  # an output layer can have the same shape, but also a bias
        fitting = [name for name in fitting if _bias_name(name) not in rest] or fitting
        fitting = [name for name in fitting if name in named] or fitting
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise ConversionError(f"{_listed(rest, fitting)}: each could be the embedding; name it with --embedding")
    if given is not None and given not in rest:
        raise ConversionError(f"--embedding {given}: no such array; there are {_listed(rest)}")
    found = _listed(rest, named) if named else "no array of that shape"
    raise ConversionError(
        f"the embedding must have the shape {(vocab_size, width)}: {vocab_size} pieces of the tokenizer, and {width} "
        f"inputs of the recurrent module; found {found}. The tokenizer must be the one that the model was trained with"
    )


def _linear_name(rest: Arrays, given: str | None) -> str:
    """The last layer's weight; "" where there is none."""
    if given is not None and given not in rest:
        raise ConversionError(f"--linear {given}: no such array; there are {_listed(rest)}")
    matrices = [given] if given is not None else [name for name, array in rest.items() if array.ndim == 2]
    if len(matrices) > 1:
        raise ConversionError(f"{_listed(rest, matrices)}: each could be the last layer; name it with --linear")
    return matrices[0] if matrices else ""


def _bias_name(weight_name: str) -> str:
    return re.sub("weight$", "bias", weight_name)


def _listed(arrays: Arrays, names: Iterable[str] | None = None) -> str:
    return ", ".join(f"{name} {arrays[name].shape}" for name in (arrays if names is None else names)) or "nothing else"
