"""The update in place against Keras' own."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from elman.training.adam import apply_adam, is_plain_adam
from elman.training.gradients import make_train_step

SHAPES = [(300, 257), (7,), (5, 3), (1,)]


def variables() -> list[keras.Variable]:
    random = np.random.default_rng(3)
    return [keras.Variable(random.normal(size=shape).astype("float32")) for shape in SHAPES]


def gradients(step: int) -> list[tf.Tensor]:
    random = np.random.default_rng(step)
    return [tf.constant(random.normal(size=shape).astype("float32") * 10.0**-step) for shape in SHAPES]


def test_ten_steps_equal_kerases_adam() -> None:
    ours, theirs = variables(), variables()
    in_place, plain = (keras.optimizers.Adam(1e-2, beta_1=0.8, beta_2=0.99, epsilon=1e-6) for _ in range(2))
    in_place.build(ours)
    plain.build(theirs)
    update = tf.function(lambda *parts: apply_adam(in_place, parts, ours))
    for step in range(10):
        rate = 1e-2 / (1 + step)
        in_place.learning_rate.assign(rate)
        plain.learning_rate.assign(rate)
        update(*gradients(step))
        plain.apply(gradients(step), theirs)
    for one, other in zip([*ours, *in_place.variables], [*theirs, *plain.variables], strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=2e-5, atol=1e-7)
    assert int(in_place.iterations) == 10


@pytest.mark.parametrize(
    "optimizer",
    [
        keras.optimizers.SGD(0.1),
        keras.optimizers.AdamW(0.1),
        keras.optimizers.Adam(0.1, amsgrad=True),
        keras.optimizers.Adam(0.1, use_ema=True),
        keras.optimizers.Adam(0.1, clipnorm=1.0),
        keras.optimizers.Adam(0.1, global_clipnorm=1.0),
        keras.optimizers.Adam(0.1, clipvalue=1.0),
        keras.optimizers.Adam(0.1, loss_scale_factor=2.0),
    ],
    ids=["sgd", "adamw", "amsgrad", "moving average", "clipnorm", "global clipnorm", "clipvalue", "loss scale"],
)
def test_other_optimizers_keep_their_own_update(optimizer: keras.optimizers.Optimizer) -> None:
    assert not is_plain_adam(optimizer, variables())
    assert is_plain_adam(keras.optimizers.Adam(0.1), variables())


def test_a_training_step_updates_in_place_and_still_skips_what_is_not_finite() -> None:
    model = keras.Sequential([keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")])
    model.build((None, 2))

    def loss(x: tf.Tensor, state: tuple[()]) -> tuple[tf.Tensor, tf.Tensor, tuple[()]]:
        return tf.reduce_sum(model(x) ** 2), tf.size(x), state

    optimizer = keras.optimizers.Adam(0.1)
    signature = [tf.TensorSpec((None, 2), tf.float32), ()]
    step = make_train_step(model, optimizer, loss, signature, global_clipnorm=1.0, clipnorm=None)
    before = model.get_weights()[0].copy()
    assert not bool(step(np.array([[np.inf, 1.0]], "float32"), ()).applied)
    np.testing.assert_array_equal(model.get_weights()[0], before)
    assert bool(step(np.array([[2.0, 1.0]], "float32"), ()).applied)
    np.testing.assert_allclose(model.get_weights()[0], before - 0.1, rtol=1e-5)  # Adam's first step is the rate
    assert int(optimizer.iterations) == 1
