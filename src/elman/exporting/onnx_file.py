"""Writes a model as an ONNX file, and asks onnxruntime, where it is there, whether it gives what Keras gives."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from elman.exporting.onnx_models import classifier_graph, language_model_graph
from elman.exporting.source import Source, Written, log_probabilities, probabilities, sample_rows

FILE = "model.onnx"


def write(source: Source, folder: Path) -> Written:
    """Writes model.onnx: ids in; probabilities out, or log-probabilities and new states.

    Raises:
        ConversionError: ONNX has no operator for a layer.
    """
    make: Any = classifier_graph if source.is_classifier else language_model_graph
    model = make(source.model)
    onnx.save(model, folder / FILE)
    return Written(_ports(model.graph.input), _ports(model.graph.output), _difference(source, folder / FILE))


def _ports(values: Any) -> dict[str, Any]:
    ports = {}
    for value in values:
        tensor = value.type.tensor_type
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
        ports[value.name] = {"type": kind, "axes": [axis.dim_param or axis.dim_value for axis in tensor.shape.dim]}
    return ports


def _difference(source: Source, path: Path) -> float | None:
    if importlib.util.find_spec("onnxruntime") is None:
        return None
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    ids, mask = sample_rows(source.model)
    if source.is_classifier:
        (found,) = session.run(["probabilities"], {"token_ids": ids})
        return float(np.abs(found - probabilities(source.model, ids, mask)).max())
    ids = sample_rows(source.model, lengths=(6, 6))[0]
    state = source.model.encoder.zero_state(2)
    feed = {f"state_{place}": np.asarray(part) for place, part in enumerate(state)}
    differences = []
    for steps in (ids[:, :5], ids[:, 5:]):  # the second call goes on from the first
        expected, state = log_probabilities(source.model, steps, state)
        found, *new = session.run(None, {"token_ids": steps, **feed})
        feed = dict(zip(feed, new, strict=True))
        differences += [np.abs(found - expected).max(), *(np.abs(a - b).max() for a, b in zip(new, state, strict=True))]
    return float(max(differences))
