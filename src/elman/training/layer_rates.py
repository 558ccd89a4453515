"""Layers that learn at rates of their own, or from different epochs on: so that what is copied is not lost at once."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from elman.models.classifier import Classifier


class LayerRates:
    """The factor of the learning rate for each variable, from the number of its layer and the epoch.

    With d the layer counted from the head (0) down to the embedding (L + 1), f the decay and e the epoch from 0, the
    factor is f^d, and 0 while e < d where layers are freed gradually, one an epoch from the head down.

    A variable whose factor is 0 is left alone: its gradient counts nowhere, and neither do its Adam moments begin. So
    Adam's correction for the start from zero goes by the steps that the variable has been trained itself. With that of
    the whole training, the first steps of a layer that is freed late would be (1 - beta_1) / sqrt(1 - beta_2), 3.2
    times as long as its rate says.

    Args:
        depths: The layer of each variable, 0 for the head.
        decay: f, above 0.
        gradual: Whether layers are freed one by one.
        optimizer: Gets a variable that counts the steps, so that a checkpoint of the optimizer holds it.

    References:
        howard2018ulmfit, kingma2015adam
    """

    def __init__(
        self, depths: Sequence[int], *, decay: float, gradual: bool, optimizer: keras.optimizers.Optimizer
    ) -> None:
        self._depths = np.asarray(depths, np.int64)
        self._decay, self._gradual = decay, gradual
        shape = (len(depths),)
        self._factors = keras.Variable(np.zeros(shape, np.float32), trainable=False, name="layer_factors")
        self._steps = optimizer.add_variable(shape=shape, initializer="zeros", dtype="int32", name="steps_trained")

    def at(self, epoch: int) -> npt.NDArray[np.float32]:
        """float32 (N,): the factor of each variable in an epoch, counted from 0."""
        factors = np.power(self._decay, self._depths)
        frozen = self._depths > epoch if self._gradual else np.zeros(len(self._depths), bool)
        return np.where(frozen, 0.0, factors).astype(np.float32)

    def start_epoch(self, epoch: int) -> None:
        """Sets the factors; they follow from the epoch, so that a checkpoint needs none of them."""
        self._factors.assign(self.at(epoch))

    @property
    def factors(self) -> Any:
        """float32 (N,) of this epoch."""
        return self._factors.value

    def count_step(self) -> Any:
        """One step more for each variable that is trained; returns int32 (N,), the number of its own step, or 1."""
        return tf.maximum(self._steps.value.assign_add(tf.cast(self.factors > 0.0, tf.int32)), 1)


def layer_depths(model: Classifier) -> list[int]:
    """The layer of each trainable variable of a classifier: 0 the head, then recurrent layers, then embedding."""
    layers = [model.head, *reversed(model.encoder.recurrent_layers), model.encoder.embedding]
    depths = {id(weight): depth for depth, layer in enumerate(layers) for weight in layer.trainable_variables}
    return [depths[id(variable)] for variable in model.trainable_variables]
