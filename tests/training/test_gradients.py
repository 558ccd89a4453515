import keras
import numpy as np
import pytest
import tensorflow as tf

from elman.config import TrainingConfig
from elman.training.gradients import clip_factors, make_optimizer, make_train_step


def config(**changes) -> TrainingConfig:
    return TrainingConfig(
        **{"embedding_dim": 4, "units": 4, "learning_rate": 0.1, "epochs": 2, "batch_size": 2, "optimizer": "sgd"}
        | changes
    )


def dense_step(loss_of, **clipping):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")])
    optimizer = make_optimizer(config())

    def loss(x, state):
        return tf.reduce_sum(loss_of(model(x))), tf.shape(x)[0], state

    clipping = {"global_clipnorm": None, "clipnorm": None} | clipping
    signature = [tf.TensorSpec((None, 2), tf.float32), ()]
    return model, make_train_step(model, optimizer, loss, signature, **clipping)


def test_global_clipnorm_keeps_the_direction_and_clipnorm_does_not():
    norms = tf.constant([3.0, 4.0])
    np.testing.assert_allclose(clip_factors(norms, global_clipnorm=1.0), [0.2, 0.2], rtol=1e-6)
    np.testing.assert_allclose(clip_factors(norms, clipnorm=2.0), [2 / 3, 0.5], rtol=1e-6)


def test_gradients_below_the_limit_are_left_alone():
    norms = tf.constant([0.3, 0.2, 0.0])
    for limits in ({"global_clipnorm": 1.0}, {"clipnorm": 0.31}, {}):
        np.testing.assert_array_equal(clip_factors(norms, **limits), [1.0, 1.0, 1.0])


def test_the_reported_norm_is_that_before_clipping():
    _, step = dense_step(lambda y: y, global_clipnorm=1e-3)
    result = step(np.array([[3.0, 4.0]], "float32"), ())
    assert float(result.gradient_norm) == pytest.approx(np.sqrt(9 + 16 + 1))  # kernel (3, 4), bias 1


def test_a_row_used_twice_counts_once_with_its_sum_in_the_norm():
    model = keras.Sequential([keras.layers.Embedding(5, 1, embeddings_initializer="ones")])
    model.build((None, 2))

    def loss(ids, state):
        return tf.reduce_sum(model(ids)), tf.shape(ids)[0], state

    signature = [tf.TensorSpec((None, 2), tf.int32), ()]
    step = make_train_step(model, make_optimizer(config()), loss, signature, global_clipnorm=None, clipnorm=None)
    assert float(step(np.array([[3, 3]], "int32"), ()).gradient_norm) == pytest.approx(2.0)  # not sqrt(1 + 1)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_step_that_is_not_finite_leaves_the_weights_and_says_so(bad):
    model, step = dense_step(lambda y: y * bad)
    before = [np.array(w) for w in model.get_weights()]
    result = step(np.array([[1.0, 2.0]], "float32"), ())
    assert not bool(result.applied)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("name", ["sgd", "adam", "adamw"])
def test_each_optimizer_of_the_configuration_lowers_a_loss(name):
    weight_decay = {"weight_decay": 0.01} if name == "adamw" else {}
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    optimizer = make_optimizer(config(optimizer=name, learning_rate=0.01, **weight_decay))
    x = np.array([[1.0, -2.0], [0.5, 3.0]], "float32")

    def loss(inputs, state):
        return tf.reduce_sum((model(inputs) - 1.0) ** 2), tf.shape(inputs)[0], state

    signature = [tf.TensorSpec((None, 2), tf.float32), ()]
    step = make_train_step(model, optimizer, loss, signature, global_clipnorm=1.0, clipnorm=None)
    losses = [float(step(x, ()).nll_sum) for _ in range(30)]
    assert losses[-1] < losses[0]
