"""What is said about the kernel beforehand, and what runs."""

from typing import Any

import keras
import numpy as np
import pytest

from elman.errors import ConfigError
from elman.layers import fast_loop
from elman.layers.gru import GRU
from elman.layers.kernel_plan import kernel_plan
from elman.layers.lstm import LSTM
from elman.layers.simple_rnn import SimpleRNN

CELLS = [SimpleRNN, LSTM, GRU]


@pytest.mark.parametrize("cls", CELLS)
def test_default_layer_runs_on_the_cpu_kernel(cls: Any) -> None:
    assert str(kernel_plan(cls(4), False)) == "CPU kernel: no GPU, and the options allow it"


@pytest.mark.parametrize("cls", [LSTM, GRU])
def test_default_layer_runs_on_cudnn_where_there_is_a_gpu(cls: Any) -> None:
    assert kernel_plan(cls(4), True).name == "cuDNN"


@pytest.mark.parametrize(
    ("layer", "gpu", "reason"),
    [
        (lambda: LSTM(4, recurrent_dropout=0.1), False, "recurrent_dropout 0.1 is not supported by the fast kernels"),
        (lambda: LSTM(4, recurrent_dropout=0.1), True, "recurrent_dropout 0.1 is not supported by the fast kernels"),
        (lambda: GRU(4, activation="relu"), False, "activation relu is not supported by the fast kernels"),
        (lambda: GRU(4, recurrent_activation="hard_sigmoid"), False, "recurrent_activation hard_sigmoid is not"),
        (lambda: GRU(4, reset_after=False), False, "reset_after=False is not supported by the fast kernels"),
        (lambda: LSTM(4, unroll=True), False, "unroll is not supported by the fast kernels"),
        (lambda: LSTM(4, dtype="float64"), False, "float64 is not supported by the fast kernels"),
        (lambda: LSTM(4, dropout=0.1, implementation=1), False, "implementation=1 with dropout is not supported"),
        (lambda: LSTM(4, use_bias=False), True, "use_bias=False on a GPU is not supported by the fast kernels"),
        (lambda: LSTM(4, use_cudnn=False), True, "use_cudnn=False on a GPU is not supported by the fast kernels"),
        (lambda: SimpleRNN(4), True, "SimpleRNN on a GPU is not supported by the fast kernels"),
        (lambda: SimpleRNN(4, loop="generic"), False, 'loop="generic" was asked for'),
    ],
)
def test_reason_names_the_option_that_forbids_the_fast_kernel(layer: Any, gpu: bool, reason: str) -> None:
    plan = kernel_plan(layer(), gpu)
    assert plan.name == "generic loop"
    assert reason in str(plan)


@pytest.mark.parametrize("cls", CELLS)
@pytest.mark.parametrize("kwargs", [{}, {"loop": "generic"}, {"recurrent_dropout": 0.1}, {"activation": "relu"}])
def test_what_is_planned_is_what_runs(cls: Any, kwargs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    run = fast_loop.run_recurrence
    monkeypatch.setattr(fast_loop, "run_recurrence", lambda *a, **k: calls.append(1) or run(*a, **k))
    layer = cls(4, **kwargs)
    layer(np.ones((2, 3, 5), "float32"))
    assert bool(calls) == (layer.kernel_plan().name == "CPU kernel")


def test_layers_without_bias_run_on_the_cpu_kernel_and_agree() -> None:
    x = np.random.default_rng(0).normal(size=(3, 4, 5)).astype("float32")
    for cls in CELLS:
        fast, slow = cls(6, use_bias=False), cls(6, use_bias=False, loop="generic")
        slow.build((None, None, 5))
        fast.build((None, None, 5))
        slow.set_weights(fast.get_weights())
        assert fast.kernel_plan().name == "CPU kernel"
        np.testing.assert_allclose(fast(x), slow(x), atol=1e-6)


def test_cudnn_that_cannot_be_had_is_refused() -> None:
    layer = LSTM(4, use_cudnn=True, recurrent_dropout=0.1)
    with pytest.raises(ConfigError, match=r"use_cudnn=True.*recurrent_dropout 0.1"):
        layer(np.ones((2, 3, 5), "float32"))


def test_unknown_loop_is_refused() -> None:
    with pytest.raises(ConfigError, match='"auto" or "generic", got \'fast\''):
        GRU(4, loop="fast")  # type: ignore[arg-type]


def test_kernel_layer_is_not_compiled_by_xla() -> None:
    model = keras.Sequential([keras.Input((3, 5)), LSTM(4)])
    model.compile("sgd", "mse")
    assert model.jit_compile is False
    model.fit(np.ones((2, 3, 5), "float32"), np.ones((2, 4), "float32"), verbose=0)
