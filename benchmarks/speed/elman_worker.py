"""elman's own models and training step, as the pipeline uses them."""

from typing import Any

import keras
import tensorflow as tf

from benchmarks.speed.worker import Step, serve
from benchmarks.speed.workloads import Batch, Workload
from elman.models.classifier import Classifier
from elman.models.device import configure_device
from elman.models.language_model import LanguageModel
from elman.models.scoring import (
    FLAGS,
    IDS,
    MASK,
    ROWS,
    classifier_nll,
    language_model_rows,
    next_rows,
    state_spec,
)
from elman.models.spec import ModelSpec
from elman.models.store import build_model
from elman.training.gradients import make_train_step


class Elman:
    """See `worker.Library`."""

    def set_threads(self, threads: int) -> None:
        """Threads of TensorFlow and of the kernels."""
        configure_device(device="cpu", threads=threads, mixed_precision=False, deterministic=False)

    def make_step(self, workload: Workload, batches: list[Batch], phase: str) -> Step:
        """The step of the training loop, or the scorer's."""
        keras.backend.clear_session()
        model = build_model(_spec(workload))
        if workload.task == "language_model":
            return _language_model_step(model, batches[0], phase)
        return _classifier_step(model, batches, phase)

    def product(self, size: int) -> Step:
        """TensorFlow's matrix product."""
        a, b = tf.random.normal((size, size)), tf.random.normal((size, size))
        return lambda: tf.matmul(a, b).numpy()


def _spec(workload: Workload) -> ModelSpec:
    return ModelSpec(
        task="language_model" if workload.task == "language_model" else "classifier",
        cell=workload.cell,  # type: ignore[arg-type]
        vocab_size=workload.vocab_size,
        num_classes=workload.num_classes,
        embedding_dim=workload.embedding_dim,
        units=workload.units,
        num_layers=workload.num_layers,
        bidirectional=workload.bidirectional,
        pooling="last",
        embedding_dropout=workload.dropout,
        dropout=workload.dropout,
        dropout_kind="step",
        seed=1,
    )


def _classifier_step(model: Classifier, batches: list[Batch], phase: str) -> Step:
    inputs = [(batch.token_ids, batch.padding_mask, batch.labels) for batch in batches]
    if phase == "infer":

        @tf.function(input_signature=[IDS, MASK, ROWS])
        def score(token_ids: Any, padding_mask: Any, labels: Any) -> Any:
            return classifier_nll(model, token_ids, padding_mask, labels, training=False)

        return lambda: [score(*batch)[0].numpy() for batch in inputs] and None

    def loss(token_ids: Any, padding_mask: Any, labels: Any, state: Any) -> Any:
        nll, _ = classifier_nll(model, token_ids, padding_mask, labels, training=True)
        return tf.reduce_sum(nll), tf.size(labels), state

    optimizer = keras.optimizers.Adam(1e-3)
    train = make_train_step(model, optimizer, loss, [IDS, MASK, ROWS, ()], global_clipnorm=1.0, clipnorm=None)

    def step() -> None:
        for batch in inputs:
            result = train(*batch, ())
            float(result.nll_sum), float(result.gradient_norm)

    return step


def _language_model_step(model: LanguageModel, batch: Batch, phase: str) -> Step:
    rows = len(batch.lengths)
    keep, reset = tf.range(rows), tf.zeros((rows,), tf.bool)
    signature = [IDS, IDS, MASK, ROWS, FLAGS, state_spec(model)]
    held = {"state": model.encoder.zero_state(rows)}
    inputs = (batch.token_ids, batch.targets, batch.padding_mask, keep, reset)
    if phase == "infer":

        @tf.function(input_signature=signature)
        def score(token_ids: Any, targets: Any, mask: Any, keep: Any, reset: Any, state: Any) -> Any:
            state = next_rows(state, keep, reset)
            hidden, real, state = language_model_rows(model, token_ids, targets, mask, state, training=False)
            return model.nll(hidden, real), state

        def infer() -> None:
            nll, held["state"] = score(*inputs, held["state"])
            nll.numpy()

        return infer

    def loss(token_ids: Any, targets: Any, mask: Any, keep: Any, reset: Any, state: Any) -> Any:
        state = next_rows(state, keep, reset)
        hidden, real, state = language_model_rows(model, token_ids, targets, mask, state, training=True)
        return model.nll_sum(hidden, real), tf.size(real), state

    train = make_train_step(model, keras.optimizers.SGD(1.0), loss, signature, global_clipnorm=0.25, clipnorm=None)

    def step() -> None:
        result = train(*inputs, held["state"])
        held["state"] = result.state
        float(result.nll_sum), float(result.gradient_norm)

    return step


if __name__ == "__main__":
    serve(Elman())
