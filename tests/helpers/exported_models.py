"""Small models with telling weights, to be exported."""

from typing import Any

import numpy as np

from elman.models.spec import ModelSpec
from elman.models.store import Model, build_model


def random_model(**changes: Any) -> Model:
    """A model whose weights, biases too, are random and large enough to tell one row of ids from another."""
    base: dict[str, Any] = {"task": "classifier", "cell": "lstm", "vocab_size": 30, "embedding_dim": 6, "units": 5}
    plain = {**base, "seed": 3, **changes}
    if plain["task"] == "classifier":
        plain = {"num_classes": 4, "pooling": "all", **plain}
    model = build_model(ModelSpec(**plain))
    random = np.random.default_rng(11)
    for weight in model.weights:
        weight.assign(weight.numpy() + random.normal(0.0, 0.6, weight.shape))
    return model
