"""What holds for every public layer, as tests to inherit.

Subclass `LayerContract`, say how the layer and its inputs are made, and pytest runs the tests below for it.
"""

import inspect
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import keras
import numpy as np
import tensorflow as tf

Arrays = dict[str, np.ndarray]


class LayerContract(ABC):
    """Tests of a layer that is called with sequences (B, T, D) or ids (B, T), and a mask.

    A layer of ids has no gradient by them, so there only gradients by weights are looked at.

    Attributes:
        sequence_argument: Name of the call's sequence argument.
        mask_argument: Name of the call's mask argument; None for a layer without one.
        not_in_config: Constructor arguments that `get_config` may leave out, each with its reason in a comment.
        tolerance: Largest difference that counts as equal.
    """

    sequence_argument: ClassVar[str] = "sequences"
    mask_argument: ClassVar[str | None] = "mask"
    not_in_config: ClassVar[frozenset[str]] = frozenset()
    tolerance: ClassVar[float] = 2e-6
    features: ClassVar[int] = 5

    @abstractmethod
    def make_layer(self) -> keras.layers.Layer:
        """A new layer; each subclass says which."""

    def more_inputs(self, batch: int) -> Arrays:
        """Other arguments of the call, each (batch, ...)."""
        return {}

    def inputs(self, *, batch: int = 4, length: int = 6, seed: int = 0) -> Arrays:
        rng = np.random.default_rng(seed)
        arrays: Arrays = {self.sequence_argument: rng.normal(size=(batch, length, self.features)).astype("float32")}
        if self.mask_argument:
            lengths = 1 + np.arange(batch) * 2 % length  # from one real step upwards
            arrays[self.mask_argument] = np.arange(length) < lengths[:, None]
        return {**arrays, **self.more_inputs(batch)}

    def mask_of(self, arrays: Arrays) -> np.ndarray:
        if self.mask_argument:
            return arrays[self.mask_argument]
        return np.ones(arrays[self.sequence_argument].shape[:2], dtype=bool)

    def built(self, arrays: Arrays) -> keras.layers.Layer:
        """A layer with random weights, so that no two gates are alike."""
        layer = self.make_layer()
        layer(**arrays)
        rng = np.random.default_rng(7)
        layer.set_weights([rng.normal(size=w.shape) * 0.4 for w in layer.weights])
        return layer

    def real_parts(self, outputs: Any, arrays: Arrays) -> list[np.ndarray]:
        """The outputs as arrays; those with a time axis keep the real steps only."""
        mask = self.mask_of(arrays)
        parts = [np.asarray(part) for part in (outputs if isinstance(outputs, list | tuple) else [outputs])]
        return [part[mask] if part.shape[:2] == mask.shape and part.ndim == 3 else part for part in parts]

    def assert_same(self, first: list[np.ndarray], second: list[np.ndarray]) -> None:
        assert len(first) == len(second)
        for a, b in zip(first, second, strict=True):
            np.testing.assert_allclose(a, b, atol=self.tolerance, rtol=self.tolerance)

    def functional(self, layer: keras.layers.Layer, arrays: Arrays) -> keras.Model:
        inputs = {
            name: keras.Input((None, *value.shape[2:]) if value.ndim > 1 and name in self._timed() else value.shape[1:],
                              dtype=str(value.dtype), name=name)
            for name, value in arrays.items()
        }  # fmt: skip
        return keras.Model(inputs, layer(**inputs))

    def _timed(self) -> tuple[str | None, ...]:
        return (self.sequence_argument, self.mask_argument)

    def gradients(self, layer: keras.layers.Layer, arrays: Arrays) -> list[tf.Tensor]:
        """Gradients of a loss over real steps, by each weight and, last, by the sequence."""
        tensors = {name: tf.constant(value) for name, value in arrays.items()}
        sequence, mask = tensors[self.sequence_argument], self.mask_of(arrays)
        variables = [weight.value for weight in layer.trainable_weights]
        with tf.GradientTape() as tape:
            inputs = [sequence] if sequence.dtype.is_floating else []
            tape.watch(inputs)
            loss = self._loss(layer(**tensors), mask)
        return tape.gradient(loss, [*variables, *inputs], unconnected_gradients="zero")

    def _loss(self, outputs: Any, mask: np.ndarray) -> tf.Tensor:
        loss = tf.constant(0.0)
        for part in outputs if isinstance(outputs, list | tuple) else [outputs]:
            timed = len(part.shape) == 3 and tuple(part.shape[:2]) == mask.shape
            loss += tf.reduce_sum(tf.cast(tf.boolean_mask(part, mask) if timed else part, tf.float32) ** 2)
        return loss

    # The tests.

    def test_every_argument_is_in_the_config(self) -> None:
        layer = self.make_layer()
        names: set[str] = set()
        for cls in type(layer).__mro__:
            if cls in (keras.layers.RNN, keras.layers.Layer):
                break
            if "__init__" in vars(cls):
                parameters = inspect.signature(cls.__init__).parameters.values()
                names |= {p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
        assert names - {"self"} - self.not_in_config <= set(layer.get_config())

    def test_config_round_trip_gives_equal_outputs(self) -> None:
        arrays = self.inputs()
        layer = self.built(arrays)
        config = keras.saving.serialize_keras_object(layer)
        copy = keras.saving.deserialize_keras_object(config)
        copy(**arrays)
        copy.set_weights(layer.get_weights())
        assert copy.get_config() == layer.get_config()
        self.assert_same(self.real_parts(layer(**arrays), arrays), self.real_parts(copy(**arrays), arrays))

    def test_saved_file_gives_equal_outputs(self, tmp_path: Path) -> None:
        arrays = self.inputs()
        model = self.functional(self.built(arrays), arrays)
        model.save(tmp_path / "model.keras")
        loaded = keras.models.load_model(tmp_path / "model.keras")
        self.assert_same(self.real_parts(model(arrays), arrays), self.real_parts(loaded(arrays), arrays))

    def test_symbolic_eager_and_computed_shapes_agree(self) -> None:
        arrays = self.inputs()
        layer = self.built(arrays)
        eager = layer(**arrays)
        symbolic = layer(**{name: keras.KerasTensor(a.shape, dtype=str(a.dtype)) for name, a in arrays.items()})
        shapes = [[tuple(p.shape) for p in (o if isinstance(o, list | tuple) else [o])] for o in (eager, symbolic)]
        assert shapes[0] == shapes[1]
        computed = layer.compute_output_shape(arrays[self.sequence_argument].shape)
        assert [tuple(s) for s in (computed if isinstance(computed[0], list | tuple) else [computed])] == shapes[0]

    def test_more_padding_changes_nothing_on_real_steps(self) -> None:
        if not self.mask_argument:
            return
        arrays = self.inputs()
        layer = self.built(arrays)
        longer = dict(arrays)
        longer[self.sequence_argument] = np.pad(arrays[self.sequence_argument], ((0, 0), (0, 5), (0, 0)))
        longer[self.mask_argument] = np.pad(arrays[self.mask_argument], ((0, 0), (0, 5)))
        self.assert_same(self.real_parts(layer(**arrays), arrays), self.real_parts(layer(**longer), longer))

    def test_garbage_in_padding_changes_neither_outputs_nor_gradients(self) -> None:
        arrays = self.inputs()
        layer = self.built(arrays)
        dirty = dict(arrays)
        clean_sequence = arrays[self.sequence_argument]
        garbage = 100.0 * np.random.default_rng(3).normal(size=clean_sequence.shape)
        real = self.mask_of(arrays).reshape(clean_sequence.shape[:2] + (1,) * (clean_sequence.ndim - 2))
        dirty[self.sequence_argument] = np.where(real, clean_sequence, garbage).astype(clean_sequence.dtype)
        self.assert_same(self.real_parts(layer(**arrays), arrays), self.real_parts(layer(**dirty), dirty))
        for clean, other in zip(self.gradients(layer, arrays), self.gradients(layer, dirty), strict=True):
            np.testing.assert_allclose(clean, other, atol=1e-4, rtol=1e-4)

    def test_a_batch_equals_its_rows_one_by_one(self) -> None:
        arrays = self.inputs()
        layer = self.built(arrays)
        whole = self.real_parts(layer(**arrays), arrays)
        rows = []
        for row in range(4):
            one = {name: value[row : row + 1] for name, value in arrays.items()}
            rows.append(self.real_parts(layer(**one), one))
        self.assert_same(whole, [np.concatenate(parts) for parts in zip(*rows, strict=True)])

    def test_a_fully_padded_row_gives_finite_outputs_and_gradients(self) -> None:
        arrays = self.inputs()
        layer = self.built(arrays)
        if self.mask_argument:
            arrays[self.mask_argument] = arrays[self.mask_argument].copy()
            arrays[self.mask_argument][2] = False
        outputs = layer(**arrays)
        for part in outputs if isinstance(outputs, list | tuple) else [outputs]:
            assert np.isfinite(np.asarray(part)).all()
        assert all(np.isfinite(gradient).all() for gradient in self.gradients(layer, arrays))

    def test_every_weight_gets_a_finite_gradient(self) -> None:
        arrays = self.inputs()
        layer = self.built(arrays)
        gradients = self.gradients(layer, arrays)
        for _, gradient in zip(layer.trainable_weights, gradients, strict=False):  # behind them: by the sequence
            dense = np.asarray(tf.convert_to_tensor(gradient))
            assert np.isfinite(dense).all()
            assert np.abs(dense).max() > 0

    def test_one_step_lowers_the_loss(self) -> None:
        arrays = self.inputs()
        layer = self.built(arrays)
        if not layer.trainable_weights:
            return
        mask = self.mask_of(arrays)
        before = self._loss(layer(**arrays), mask)
        for weight, gradient in zip(layer.trainable_weights, self.gradients(layer, arrays), strict=False):
            weight.assign(weight.value - 1e-3 * tf.convert_to_tensor(gradient))
        assert self._loss(layer(**arrays), mask) < before
