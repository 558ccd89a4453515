"""Each implementation of each cell against Keras' generic loop: what goes out, what comes back, what is carried on.

A batch holds full, ragged and length-1 rows, and a fully padded one. Outputs are compared at real steps and by the last
state; gradients by the input, the initial state and every weight. cuDNN takes no row without a real step, so it is
given a row of length 1 in its place: no such row reaches it, since empty documents are rejected by the prepare stage.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from elman.diagnostics.check import Check, compare
from elman.layers.kernel_plan import KernelName, KernelPlan
from elman.layers.lstm import LSTM
from elman.models.encoder import CELLS

TOLERANCE = 1e-5
FORGET_BIASES = (0.0, 1.0, 2.5)


class _Size(NamedTuple):
    batch: int
    length: int
    features: int
    units: int


# One that divides by no vector and no block of rows, and one large enough for several threads.
_SIZES = (_Size(9, 8, 5, 13), _Size(32, 24, 32, 64))


def check_kernels(*, gpu: bool) -> Iterator[Check]:
    """Check every cell, in both directions, on the CPU kernel and, where there is a GPU, on cuDNN.

    Args:
        gpu: Whether TensorFlow sees a GPU.
    """
    reduced = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(False)  # ten bits of a product are no reference
    try:
        for cell in CELLS:
            kernels: list[KernelName] = ["CPU kernel", "cuDNN"] if gpu and cell != "simple_rnn" else ["CPU kernel"]
            for kernel in kernels:
                for backwards in (False, True):
                    yield from _check_direction(cell, kernel, backwards=backwards)
                yield _check_carried_state(cell, kernel)
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(reduced)


def check_forget_bias() -> Iterator[Check]:
    """Check that an LSTM's forget gate sees the bias asked for, by its weights and by what the gate does."""
    for value in FORGET_BIASES:
        layer = LSTM(7, forget_bias=value, return_state=True)
        layer.build((None, None, 3))
        ones, zeros = tf.ones((2, 7)), tf.zeros((2, 7))
        _, _, c = layer(tf.zeros((2, 1, 3)), initial_state=[zeros, ones])  # g = tanh(0) = 0, so c = f
        found = {"the bias": layer.forget_gate_bias, "the gate": np.asarray(c)}
        expected = {"the bias": np.full(7, value), "the gate": np.full((2, 7), 1.0 / (1.0 + np.exp(-value)))}
        yield compare(
            f"lstm: forget bias {value:g} after build", found, expected, tolerance=1e-6, detail="read back, and by c"
        )


def _check_direction(cell: str, kernel: KernelName, *, backwards: bool) -> Iterator[Check]:
    found: dict[str, dict[str, Any]] = {"outputs and states": {}, "gradients": {}}
    expected: dict[str, dict[str, Any]] = {"outputs and states": {}, "gradients": {}}
    for size in _SIZES:
        for sequences in (True, False):
            fast, generic = _pair(cell, size, kernel, go_backwards=backwards, return_sequences=sequences)
            x, states, mask = _inputs(fast, size, empty_row=kernel != "cuDNN")
            label = f"{size.batch}x{size.length}, return_sequences={sequences}"
            for layer, results in ((fast, found), (generic, expected)):
                values, gradients = _values_and_gradients(layer, x, states, mask)
                results["outputs and states"] |= {f"{name} ({label})": value for name, value in values.items()}
                results["gradients"] |= {f"{name} ({label})": value for name, value in gradients.items()}
    direction = "backwards" if backwards else "forwards"
    rows = "full, ragged, length-1" + (" rows" if kernel == "cuDNN" else " and fully padded rows")
    for what in found:
        name = f"{cell} {direction}, {kernel} against generic loop: {what}"
        yield compare(name, found[what], expected[what], tolerance=TOLERANCE, detail=rows)


def _check_carried_state(cell: str, kernel: KernelName) -> Check:
    size = _SIZES[0]
    layer, _ = _pair(cell, size, kernel, return_sequences=True)
    x, states, _ = _inputs(layer, size, empty_row=False)
    outputs, *last = layer(x, initial_state=states)
    pieces = []
    for piece in (x[:, :3], x[:, 3:4], x[:, 4:]):
        part, *states = layer(piece, initial_state=states)
        pieces.append(part)
    names = ["outputs", *(f"state {number + 1}" for number in range(len(last)))]
    return compare(
        f"{cell}, {kernel}: three pieces with carried state against the whole",
        dict(zip(names, map(np.asarray, [tf.concat(pieces, axis=1), *states]), strict=True)),
        dict(zip(names, map(np.asarray, [outputs, *last]), strict=True)),
        tolerance=TOLERANCE,
        detail="pieces of 3, 1 and 4 steps",
    )


def _pair(cell: str, size: _Size, kernel: KernelName, **kwargs: Any) -> tuple[Any, Any]:
    """Return the same layer on a kernel and on the generic loop, with random weights of which no two are alike."""
    fast: Any = CELLS[cell](size.units, return_state=True, **kwargs)
    generic: Any = CELLS[cell](size.units, return_state=True, loop="generic", **kwargs)
    rng = np.random.default_rng(0)
    for layer in (fast, generic):
        layer.build((None, None, size.features))
    weights = [rng.normal(size=w.shape) * 0.8 / np.sqrt(size.units) for w in fast.weights]
    for layer in (fast, generic):
        layer.set_weights(weights)
    fast.kernel_plan = lambda: KernelPlan(kernel, "this one is checked")  # also the one that is not chosen here
    return fast, generic


def _inputs(layer: Any, size: _Size, *, empty_row: bool) -> tuple[Any, list[Any], Any]:
    rng = np.random.default_rng(1)
    x = tf.constant(rng.normal(size=(size.batch, size.length, size.features)), tf.float32)
    states = [tf.constant(rng.normal(size=(size.batch, size.units)), tf.float32) for _ in layer.state_size]
    lengths = rng.integers(1, size.length + 1, size.batch)
    lengths[:3] = size.length, 1, 0 if empty_row else 1
    return x, states, tf.constant(np.arange(size.length) < lengths[:, None])


def _values_and_gradients(layer: Any, x: Any, states: list[Any], mask: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return outputs (zero at masked steps) and states, and the gradients of a loss that uses all of them."""
    variables = layer.trainable_weights
    with tf.GradientTape() as tape:
        tape.watch([x, *states])
        outputs, *last = layer(x, mask=mask, initial_state=states, training=True)
        if layer.return_sequences:
            real = tf.reverse(mask, [1]) if layer.go_backwards else mask  # outputs stand in the order of reading
            outputs = tf.where(real[..., None], outputs, 0.0)
        parts = [outputs, *last]
        loss = tf.add_n([tf.reduce_sum(tf.sin(part * (k + 1.0) + 0.3)) for k, part in enumerate(parts)])
    gradients = tape.gradient(loss, [x, *states, *[variable.value for variable in variables]])
    state_names = [f"state {number + 1}" for number in range(len(states))]
    names = ["the input", *(f"initial {name}" for name in state_names), *(variable.name for variable in variables)]
    return (
        dict(zip(["outputs", *(f"last {name}" for name in state_names)], map(np.asarray, parts), strict=True)),
        {name: np.asarray(tf.convert_to_tensor(value)) for name, value in zip(names, gradients, strict=True)},
    )
