"""ONNX graphs run by onnxruntime, against Keras."""

from typing import Any

import keras
import numpy as np
import onnx
import onnxruntime
import pytest

from elman.errors import ConversionError
from elman.exporting.onnx_models import classifier_graph, language_model_graph
from elman.exporting.onnx_nodes import OnnxNodes
from elman.exporting.onnx_recurrent import add_recurrent
from elman.exporting.source import log_probabilities, probabilities
from elman.layers.gru import GRU
from elman.layers.lstm import LSTM
from tests.helpers.exported_models import random_model

CELLS = ("simple_rnn", "lstm", "gru")


def session(graph: Any) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])


def ragged(lengths: tuple[int, ...], steps: int) -> tuple[np.ndarray, np.ndarray]:
    mask = np.arange(steps) < np.array(lengths)[:, None]
    return np.where(mask, np.random.default_rng(5).integers(1, 30, mask.shape), 0).astype(np.int32), mask


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("num_layers", [1, 2])
def test_a_classifier_gives_what_keras_gives_however_much_padding_there_is(
    cell: str, bidirectional: bool, num_layers: int
) -> None:
    model = random_model(cell=cell, bidirectional=bidirectional, num_layers=num_layers)
    run = session(classifier_graph(model))
    ids, mask = ragged((9, 1, 4, 6), 9)
    expected = probabilities(model, ids, mask)
    assert np.ptp(expected, axis=0).max() > 0.1, "the rows differ, so that an error would show"
    for padding in (0, 5):
        found = run.run(["probabilities"], {"token_ids": np.pad(ids, ((0, 0), (0, padding)))})[0]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    for row, length in zip(ids, mask.sum(axis=1), strict=True):
        alone = row[None, :length]
        found = run.run(["probabilities"], {"token_ids": alone})[0]
        np.testing.assert_allclose(found, probabilities(model, alone, alone > 0), rtol=0, atol=1e-5)


@pytest.mark.parametrize("pooling", ["last", "mean", "max", "all"])
def test_every_pooling_reads_the_real_steps_only(pooling: str) -> None:
    model = random_model(cell="gru", bidirectional=True, pooling=pooling)
    ids, mask = ragged((3, 8, 1), 11)
    run = session(classifier_graph(model))
    expected = model(ids, padding_mask=mask, training=False)
    np.testing.assert_allclose(run.run(["logits"], {"token_ids": ids})[0], expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(("num_layers", "tied"), [(1, True), (2, False)])
def test_a_language_model_goes_on_from_its_states(cell: str, num_layers: int, tied: bool) -> None:
    changes = {"embedding_dim": 5} if tied else {}
    model = random_model(task="language_model", cell=cell, num_layers=num_layers, tie_embeddings=tied, **changes)
    run = session(language_model_graph(model))
    ids = np.random.default_rng(2).integers(1, 30, (3, 7)).astype(np.int32)
    whole, last = log_probabilities(model, ids, model.encoder.zero_state(3))
    states = {node.name: np.zeros((3, 5), np.float32) for node in run.get_inputs()[1:]}
    assert len(states) == num_layers * (2 if cell == "lstm" else 1)
    for start, end in ((0, 1), (1, 5), (5, 7)):
        found, *new = run.run(None, {"token_ids": ids[:, start:end], **states})
        states = dict(zip(states, new, strict=True))
        np.testing.assert_allclose(found, whole[:, start:end], rtol=0, atol=1e-4)
    for found, expected in zip(states.values(), last, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_the_operators_are_onnxs_own_and_the_recurrent_ones_are_whole() -> None:
    graph = classifier_graph(random_model(bidirectional=True, num_layers=2), {"made_by": "elman"})
    operators = [node.op_type for node in graph.graph.node]
    assert operators.count("LSTM") == 2
    assert {node.domain for node in graph.graph.node} == {""}
    assert [(one.key, one.value) for one in graph.metadata_props] == [("made_by", "elman")]
    assert graph.opset_import[0].version <= onnx.defs.onnx_opset_version()


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (GRU(3, reset_after=False, name="early"), "'early' has reset_after=False or open_gates"),
        (LSTM(3, open_gates=("forget",), name="old"), "'old' has reset_after=False or open_gates"),
        (keras.layers.SimpleRNN(3, activation="relu", name="sharp"), "'sharp' has another activation"),
    ],
)
def test_what_the_operators_do_not_compute_is_refused(layer: Any, message: str) -> None:
    layer.build((None, None, 2))
    with pytest.raises(ConversionError, match=message):
        add_recurrent(OnnxNodes(), layer, "sequence")
