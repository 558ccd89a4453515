"""Writes a model as a LiteRT file: one document or one step at a time, ids in, LiteRT's own operators only.

A batch of one document has no padding, so no mask; and the arrays that Keras' loop reads and writes have shapes that
are known, without which LiteRT has no operator for them.
"""

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from elman.errors import ConversionError
from elman.exporting.source import Source, Written, log_probabilities, probabilities, sample_rows
from elman.models.classifier import Classifier
from elman.models.encoder import states_per_layer
from elman.models.language_model import LanguageModel

FILE = "model.tflite"


def write(source: Source, folder: Path) -> Written:
    """Writes model.tflite.

    A classifier: token_ids int32 (1, T) to probabilities float32 (1, C). A language model: token_ids int32 (1,) and the
    states, float32 (1, U) each, to log_probabilities float32 (1, V) of what follows, and the new states; their names
    are those of the ONNX file.

    Raises:
        ConversionError: LiteRT's operators do not allow it; says which.
    """
    module = tf.Module()
    module.parts = [variable.value for variable in source.model.variables]
    function, inputs = (_classifier if source.is_classifier else _language_model)(source.model)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function], module)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
    try:
        content = converter.convert()
    except Exception as error:
        first = str(error).strip().splitlines()[0]
        raise ConversionError(f"LiteRT cannot run this model: {first}. Export it to onnx or savedmodel") from error
    (folder / FILE).write_bytes(content)
    outputs = {name: _port(spec) for name, spec in function.structured_outputs.items()}
    return Written({name: _port(spec) for name, spec in inputs.items()}, outputs, _difference(source, content))


def _classifier(model: Classifier) -> tuple[Any, dict[str, Any]]:
    """The graph, and its inputs."""

    @tf.function
    def classify(token_ids: Any) -> dict[str, Any]:
        encoded = model.encoder(token_ids, padding_mask=None, training=False)
        real = tf.ones_like(token_ids, tf.bool)
        pooled = model.pooling(encoded.sequence, last_state=encoded.last_state, padding_mask=real)
        return {"probabilities": tf.nn.softmax(model.head(pooled))}

    specs = {"token_ids": tf.TensorSpec((1, None), tf.int32, name="token_ids")}
    return classify.get_concrete_function(**specs), specs


def _language_model(model: LanguageModel) -> tuple[Any, dict[str, Any]]:
    """The graph of one step, and its inputs."""
    per_layer = states_per_layer(model.spec.cell)

    @tf.function
    def step(token_ids: Any, **states: Any) -> dict[str, Any]:
        outputs = model.encoder.embedding(token_ids)  # (1, D)
        given, new = [states[f"state_{place}"] for place in range(len(states))], []
        for number, layer in enumerate(model.encoder.recurrent_layers):
            own = given[number * per_layer : (number + 1) * per_layer]
            outputs, after = layer.cell(outputs, own, training=False)
            new += after
        named = {f"new_state_{place}": state for place, state in enumerate(new)}
        return {"log_probabilities": tf.nn.log_softmax(model.project(outputs)), **named}

    specs = {"token_ids": tf.TensorSpec((1,), tf.int32, name="token_ids")}
    for place in range(per_layer * model.spec.num_layers):
        name = f"state_{place}"
        specs[name] = tf.TensorSpec((1, model.spec.units), tf.float32, name=name)
    return step.get_concrete_function(**specs), specs


def _port(spec: Any) -> dict[str, Any]:
    return {"type": spec.dtype.name, "axes": [size or "T" for size in spec.shape]}


def _difference(source: Source, content: bytes) -> float:
    interpreter = make_interpreter(content)
    run = interpreter.get_signature_runner()
    ids, mask = sample_rows(source.model)
    if source.is_classifier:
        rows = [row[real][None] for row, real in zip(ids, mask, strict=True)]
        found = [run(token_ids=row)["probabilities"] - probabilities(source.model, row, row > 0) for row in rows]
        return float(np.abs(found).max())
    state = source.model.encoder.zero_state(1)
    feed = {f"state_{place}": np.asarray(part) for place, part in enumerate(state)}
    differences = []
    for token in ids[0]:
        expected, state = log_probabilities(source.model, token[None, None], state)
        answer = run(token_ids=token[None], **feed)
        feed = {name: answer[f"new_{name}"] for name in feed}
        differences.append(np.abs(answer["log_probabilities"] - expected[0]).max())
    return float(max(differences))


def make_interpreter(content: bytes) -> Any:
    """Runs a LiteRT file."""
    from ai_edge_litert.interpreter import Interpreter

    return Interpreter(model_content=content)
