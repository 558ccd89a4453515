"""Writes a model as a TensorFlow SavedModel with strings in, loads it again and compares ids and outputs."""

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from elman.data.cleaning import clean_text
from elman.data.encoding import encode_texts
from elman.data.sequences import cut_documents
from elman.data.tokenizer import BOS_ID, Tokenizer
from elman.errors import ConversionError
from elman.exporting.graph_models import classifier_functions, language_model_functions
from elman.exporting.source import Source, Written, log_probabilities, probabilities

FOLDER = "model"
_PYTHON = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}


def write(source: Source, folder: Path) -> Written:
    """Writes the folder `model` with the signatures that `graph_models` names; the first is also `serving_default`.

    Raises:
        ConversionError: The graph needs Python, or it makes other ids of text than this package.
    """
    module, functions = (classifier_functions if source.is_classifier else language_model_functions)(source)
    main = next(iter(functions))
    concrete = {name: function.get_concrete_function() for name, function in functions.items()}
    for name, function in concrete.items():
        if found := sorted({node.op for node in _nodes(function)} & _PYTHON):
            raise ConversionError(f"{name} calls Python ({', '.join(found)}), which cannot be in a file")
    path = folder / FOLDER
    tf.saved_model.save(module, str(path), signatures={**concrete, "serving_default": concrete[main]})
    outputs = {name: _port(spec) for name, spec in concrete[main].structured_outputs.items()}
    return Written({"texts": {"type": "string", "axes": ["B"]}}, outputs, _difference(source, path))


def _nodes(function: Any) -> list[Any]:
    graph = function.graph.as_graph_def()
    return [*graph.node, *(node for inner in graph.library.function for node in inner.node_def)]


def _port(spec: Any) -> dict[str, Any]:
    letters = ["B", "T"]
    return {"type": spec.dtype.name, "axes": [size or letters[place] for place, size in enumerate(spec.shape)]}


def _difference(source: Source, path: Path) -> float:
    loaded = tf.saved_model.load(str(path))
    tokenizer = Tokenizer.load(source.tokenizer)
    texts = _sample_texts(tokenizer)
    rows = expected_rows(texts, source, tokenizer)
    found = loaded.signatures["tokenize"](texts=tf.constant(texts))["token_ids"].numpy()
    if [row[row > 0].tolist() for row in found] != [row.tolist() for row in rows]:
        raise ConversionError(f"{path}: the graph makes other ids of text than this package does")
    differences = []
    for text, row in zip(texts, rows, strict=True):
        if source.is_classifier:
            answer = loaded.signatures["classify"](texts=tf.constant([text]))["probabilities"].numpy()
            expected = probabilities(source.model, row[None], np.ones((1, len(row)), bool))
        else:
            answer = loaded.signatures["score"](texts=tf.constant([text]))["token_nll_nats"].numpy()[0]
            inputs = np.array([[BOS_ID, *row[:-1]]], np.int32)
            scores, _ = log_probabilities(source.model, inputs, None)
            expected = -scores[0, np.arange(len(row)), row]
        differences.append(np.abs(answer - expected).max())
    return float(max(differences))


def expected_rows(texts: list[str], source: Source, tokenizer: Tokenizer) -> list[Any]:
    """The ids, int32 (T,), that the model reads of each text: cleaned, ended and, by a classifier, cut."""
    clean = [clean_text(text, **source.serving.cleaning.model_dump()) for text in texts]
    documents = encode_texts(clean, tokenizer=tokenizer)
    if source.serving.max_length is not None:
        documents = cut_documents(documents, source.serving.max_length)
    return np.split(documents.token_ids, documents.offsets[1:-1])


def _sample_texts(tokenizer: Tokenizer) -> list[str]:
    """Texts of the tokenizer's own pieces, one of them empty, one with white space around it and capitals."""
    random = np.random.default_rng(7)
    first, second = (tokenizer.decode(random.integers(4, tokenizer.vocab_size, size)) for size in (12, 3))
    return [first, "", f" \t{second.upper()}\u3000 "]
