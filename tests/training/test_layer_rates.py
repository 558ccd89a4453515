"""Layers with rates of their own against Adam worked out by hand."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from elman.config import ClassifierConfig
from elman.models.spec import ModelSpec
from elman.models.store import build_model
from elman.training.checkpoint import Checkpoint
from elman.training.layer_rates import LayerRates, layer_depths
from elman.training.loop import fit
from elman.training.objectives import ClassifierObjective
from elman.training.updates import make_update
from tests.helpers.encoded_documents import make_documents

RATE, DECAY, DEPTHS = 0.05, 0.4, (2, 0, 1)
WEIGHTS = [np.array(values, np.float32) for values in ([0.7, -1.1], [2.0], [[0.3, 0.9, -0.2]])]


def by_hand(number: int, epochs: int) -> np.ndarray:
    """Adam as published, begun in the epoch in which the layer is freed, one step an epoch."""
    weight, depth = WEIGHTS[number].astype(np.float64), DEPTHS[number]
    m, v = np.zeros_like(weight), np.zeros_like(weight)
    for t, epoch in enumerate(range(depth, epochs), start=1):
        gradient = np.asarray(gradients(epoch)[number], np.float64)
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        weight -= RATE * DECAY**depth * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-7)
    return weight


def gradients(epoch: int) -> list[tf.Tensor]:
    random = np.random.default_rng([8, epoch])
    return [tf.constant(random.normal(size=weight.shape).astype("float32")) for weight in WEIGHTS]


def test_each_layer_moves_as_adam_with_its_own_rate_from_the_epoch_in_which_it_is_freed() -> None:
    variables = [keras.Variable(weight) for weight in WEIGHTS]
    optimizer = keras.optimizers.Adam(RATE)
    rates = LayerRates(DEPTHS, decay=DECAY, gradual=True, optimizer=optimizer)
    optimizer.build(variables)

    change = make_update(optimizer, variables, rates)
    update = tf.function(lambda *parts: change(parts, tf.ones(len(variables))))

    for epoch in range(5):
        rates.start_epoch(epoch)
        update(*gradients(epoch))
        for number, variable in enumerate(variables):
            expected = by_hand(number, epoch + 1)
            if epoch < DEPTHS[number]:
                np.testing.assert_array_equal(np.asarray(variable), WEIGHTS[number])
            np.testing.assert_allclose(np.asarray(variable), expected, rtol=2e-5, atol=2e-6)
    assert int(optimizer.iterations) == 5


def test_factors_are_powers_of_the_decay_and_zero_before_the_layer_is_freed() -> None:
    optimizer = keras.optimizers.Adam(RATE)
    gradual = LayerRates(DEPTHS, decay=0.5, gradual=True, optimizer=optimizer)
    assert [gradual.at(epoch).tolist() for epoch in (0, 1, 2, 7)] == [
        [0.0, 1.0, 0.0],
        [0.0, 1.0, 0.5],
        [0.25, 1.0, 0.5],
        [0.25, 1.0, 0.5],
    ]
    assert LayerRates(DEPTHS, decay=0.5, gradual=False, optimizer=optimizer).at(0).tolist() == [0.25, 1.0, 0.5]


def classifier(**changes: object) -> keras.Model:
    plain = {"task": "classifier", "cell": "lstm", "vocab_size": 60, "num_classes": 3, "embedding_dim": 4, "units": 3}
    return build_model(ModelSpec(**{**plain, "dropout": 0.2, "seed": 4, **changes}))


def test_layers_are_counted_from_the_head_down() -> None:
    model = classifier(num_layers=2)
    named = {
        variable.path: depth for variable, depth in zip(model.trainable_variables, layer_depths(model), strict=True)
    }
    assert {depth for path, depth in named.items() if "head" in path} == {0}
    assert {depth for path, depth in named.items() if "lstm_2" in path} == {1}
    assert {depth for path, depth in named.items() if "lstm_1" in path} == {2}
    assert {depth for path, depth in named.items() if "embeddings" in path} == {3}


CONFIG = ClassifierConfig(
    embedding_dim=4, units=3, dropout=0.2, learning_rate=0.02, epochs=4, batch_size=4,
    global_clipnorm=0.5, pretrain="language_model", unfreeze="gradual", rate_decay=0.5,
)  # fmt: skip


class Watch(keras.callbacks.Callback):
    """Keeps the weights after each epoch, and ends the process in the middle of one."""

    def __init__(self, kill_in: int = -1) -> None:
        super().__init__()
        self.weights: list[list[np.ndarray]] = []
        self.kill_in, self.epoch = kill_in, -1

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if self.epoch == self.kill_in and batch == 1:
            raise KeyboardInterrupt

    def on_epoch_end(self, epoch, logs=None):
        self.weights.append([np.array(variable) for variable in self.model.trainable_variables])


def trained(watch: Watch, checkpoint: Checkpoint | None = None) -> keras.Model:
    keras.utils.set_random_seed(2)
    documents = make_documents([3, 5, 4, 7, 2, 6, 5, 3, 4, 6, 2, 5])
    objective = ClassifierObjective(classifier(), CONFIG, documents, documents, seed=4)
    fit(objective, CONFIG, checkpoint=checkpoint, callbacks=[watch])
    return objective.model


def test_frozen_layers_do_not_move_and_a_resumed_training_ends_with_the_same_bits(tmp_path) -> None:
    whole = Watch()
    model = trained(whole)
    first = [np.array(variable) for variable in classifier().trainable_variables]
    for number, depth in enumerate(layer_depths(model)):
        for epoch, weights in enumerate(whole.weights):
            moved = not np.array_equal(weights[number], first[number])
            assert moved == (epoch >= depth), (model.trainable_variables[number].path, epoch)
    with pytest.raises(KeyboardInterrupt):
        trained(Watch(kill_in=2), Checkpoint(tmp_path, "key", minutes=0.0))
    resumed = trained(Watch(), Checkpoint(tmp_path, "key", minutes=0.0))
    for one, other in zip(model.weights, resumed.weights, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
