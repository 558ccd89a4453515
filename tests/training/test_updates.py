"""Updates in place against Keras' own."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from elman.training.gradients import make_train_step
from elman.training.updates import is_plain, make_update

SHAPES = [(300, 257), (7,), (5, 3), (1,)]


def variables() -> list[keras.Variable]:
    random = np.random.default_rng(3)
    return [keras.Variable(random.normal(size=shape).astype("float32")) for shape in SHAPES]


def gradients(step: int) -> list[tf.Tensor]:
    random = np.random.default_rng(step)
    return [tf.constant(random.normal(size=shape).astype("float32") * 10.0**-step) for shape in SHAPES]


@pytest.mark.parametrize(
    "make",
    [
        lambda: keras.optimizers.SGD(1e-2),
        lambda: keras.optimizers.Adam(1e-2, beta_1=0.8, beta_2=0.99, epsilon=1e-6),
        lambda: keras.optimizers.AdamW(1e-2, weight_decay=0.03),
    ],
    ids=["sgd", "adam", "adamw"],
)
def test_ten_steps_equal_those_of_keras(make) -> None:  # type: ignore[no-untyped-def]
    ours, theirs = variables(), variables()
    in_place, plain = make(), make()
    in_place.build(ours)
    plain.build(theirs)
    change = make_update(in_place, ours)
    update = tf.function(lambda factors, *parts: change(parts, factors))
    for step in range(10):
        rate, factors = 1e-2 / (1 + step), np.array([0.3, 1.0, 0.5, 2.0], np.float32) / (1 + step)
        in_place.learning_rate.assign(rate)
        plain.learning_rate.assign(rate)
        update(tf.constant(factors), *gradients(step))
        pairs = zip(gradients(step), factors, strict=True)
        plain.apply([gradient * factor for gradient, factor in pairs], theirs)
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
        keras.optimizers.Adam(0.1, weight_decay=0.1),
        keras.optimizers.Adam(0.1, clipnorm=1.0),
        keras.optimizers.Adam(0.1, global_clipnorm=1.0),
        keras.optimizers.Adam(0.1, clipvalue=1.0),
        keras.optimizers.Adam(0.1, loss_scale_factor=2.0),
        keras.optimizers.Adam(0.1, gradient_accumulation_steps=2),
    ],
    ids=[
        "sgd", "adamw", "amsgrad", "moving average", "weight decay", "clipnorm", "global clipnorm", "clipvalue",
        "loss scale", "accumulation",
    ],
)  # fmt: skip
def test_other_optimizers_keep_their_own_update(optimizer: keras.optimizers.Optimizer) -> None:
    assert not is_plain(optimizer, keras.optimizers.Adam, variables())
    assert is_plain(keras.optimizers.Adam(0.1), keras.optimizers.Adam, variables())


def test_sgd_with_momentum_keeps_its_momentum() -> None:
    ours, theirs = variables(), variables()
    one, other = (keras.optimizers.SGD(0.1, momentum=0.9) for _ in range(2))
    one.build(ours)
    other.build(theirs)
    for step in (0, 1):
        make_update(one, ours)(gradients(step), tf.ones(4))
        other.apply(gradients(step), theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6)


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
