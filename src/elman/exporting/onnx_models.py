"""A classifier and a language model as ONNX graphs: token ids in, probabilities out."""

from typing import Any

import numpy as np

from elman.data.tokenizer import PAD_ID
from elman.exporting.onnx_nodes import FLOAT, INT32, Axes, OnnxNodes, Port
from elman.exporting.onnx_recurrent import add_recurrent
from elman.models.classifier import Classifier
from elman.models.encoder import states_per_layer
from elman.models.language_model import LanguageModel


def classifier_graph(model: Classifier, metadata: dict[str, str] | None = None) -> Any:
    """`token_ids` int32 (B, T), padded with 0 on the right, to `probabilities` and `logits` float32 (B, C).

    The mask is made of the ids, and kept through all layers: more padding changes nothing. A row needs one token.

    Args:
        model: Built.
        metadata: What is written into the file beside the graph.
    """
    nodes = OnnxNodes()
    real = nodes.add("Not", nodes.add("Equal", "token_ids", nodes.constant(np.int32(PAD_ID))))  # (B, T)
    axis = nodes.constant(np.array([1], np.int64))
    lengths = nodes.add("ReduceSum", nodes.add("Cast", real, to=INT32), axis, keepdims=0)  # (B,)
    sequence, states = _embed(nodes, model, "token_ids"), [""]
    for layer in model.encoder.recurrent_layers:
        sequence, states = add_recurrent(nodes, layer, sequence, lengths=lengths)
    pooled = _pool(nodes, model.spec.pooling, sequence, states[0], real, lengths)  # (B, P)
    kernel = nodes.constant(np.asarray(model.head.kernel, np.float32), "head_kernel")
    logits = nodes.add("Gemm", pooled, kernel, nodes.constant(np.asarray(model.head.bias, np.float32), "head_bias"))
    axes: Axes = ["B", model.spec.num_classes]
    return nodes.model(
        "classifier",
        inputs={"token_ids": (INT32, ["B", "T"])},
        outputs={
            "probabilities": (FLOAT, axes, nodes.add("Softmax", logits, axis=-1)),
            "logits": (FLOAT, axes, logits),
        },
        metadata=metadata,
    )


def language_model_graph(model: LanguageModel, metadata: dict[str, str] | None = None) -> Any:
    """`token_ids` int32 (B, T) and the states to `log_probabilities` float32 (B, T, V) of what follows, and new states.

    T = 1 is one step; all steps are real. States are float32 (B, U): `state_0`, `state_1` and so on in, `new_state_0`
    and so on out, in the order of the model's own (h of a layer, and c after it for an LSTM); zeros at a document's
    start.

    Args:
        model: Built.
        metadata: What is written into the file beside the graph.
    """
    nodes, per_layer = OnnxNodes(), states_per_layer(model.spec.cell)
    sequence, first = _embed(nodes, model, "token_ids"), nodes.constant(np.array([0], np.int64))
    inputs: dict[str, Port] = {"token_ids": (INT32, ["B", "T"])}
    outputs: dict[str, tuple[int, Axes, str]] = {}
    axes: Axes = ["B", model.spec.units]
    for number, layer in enumerate(model.encoder.recurrent_layers):
        names = [f"state_{number * per_layer + place}" for place in range(per_layer)]
        inputs |= dict.fromkeys(names, (FLOAT, axes))
        recurred = add_recurrent(nodes, layer, sequence, states=[nodes.add("Unsqueeze", name, first) for name in names])
        sequence = recurred.sequence
        for name, state in zip(names, recurred.states, strict=True):
            outputs[f"new_{name}"] = (FLOAT, axes, nodes.add("Squeeze", state, first))
    hidden = nodes.add("Transpose", sequence, perm=[1, 0, 2])  # (B, T, U)
    matrix = (
        _EMBEDDING if model.spec.tie_embeddings else nodes.constant(np.asarray(model.output_kernel), "output_kernel")
    )
    logits = nodes.add("MatMul", hidden, nodes.add("Transpose", matrix, perm=[1, 0]))
    logits = nodes.add("Add", logits, nodes.constant(np.asarray(model.output_bias, np.float32), "output_bias"))
    scores = nodes.add("LogSoftmax", logits, axis=-1)
    return nodes.model(
        "language_model",
        inputs=inputs,
        outputs={"log_probabilities": (FLOAT, ["B", "T", model.spec.vocab_size], scores), **outputs},
        metadata=metadata,
    )


_EMBEDDING = "embedding"


def _embed(nodes: OnnxNodes, model: Classifier | LanguageModel, token_ids: str) -> str:
    """Float (T, B, D), the axes' order of ONNX's recurrent operators."""
    table = nodes.constant(np.asarray(model.encoder.embedding.embeddings, np.float32), _EMBEDDING)
    return nodes.add("Transpose", nodes.add("Gather", table, token_ids, axis=0), perm=[1, 0, 2])


def _pool(nodes: OnnxNodes, mode: str, sequence: str, state: str, real: str, lengths: str) -> str:
    """What SequencePooling computes: last, mean and max over the real steps, float (B, P)."""
    parts = []
    steps = nodes.add("Unsqueeze", nodes.add("Transpose", real, perm=[1, 0]), nodes.constant(np.array([2], np.int64)))
    first = nodes.constant(np.array([0], np.int64))
    if mode in ("last", "all"):
        by_row = nodes.add("Transpose", state, perm=[1, 0, 2])  # (B, directions, U)
        parts.append(nodes.add("Reshape", by_row, nodes.constant(np.array([0, -1], np.int64))))
    if mode in ("mean", "all"):
        kept = nodes.add("Where", steps, sequence, nodes.constant(np.float32(0.0)))
        total = nodes.add("ReduceSum", kept, first, keepdims=0)  # (B, U)
        count = nodes.add("Unsqueeze", nodes.add("Cast", lengths, to=FLOAT), nodes.constant(np.array([1], np.int64)))
        parts.append(nodes.add("Div", total, nodes.add("Max", count, nodes.constant(np.float32(1.0)))))
    if mode in ("max", "all"):
        kept = nodes.add("Where", steps, sequence, nodes.constant(np.float32(-1e4)))
        parts.append(nodes.add("ReduceMax", kept, first, keepdims=0))
    return parts[0] if len(parts) == 1 else nodes.add("Concat", *parts, axis=-1)
