"""elman's own models and training step, as the pipeline uses them."""

from functools import partial

import keras
import numpy as np
import tensorflow as tf

from benchmarks.speed.worker import Step, serve
from benchmarks.speed.workloads import Batch, Workload
from elman.data.document_batches import DocumentBatch
from elman.data.stream_windows import Window
from elman.models.classifier import Classifier
from elman.models.device import configure_device
from elman.models.language_model import LanguageModel
from elman.models.scoring import (
    FLAGS,
    IDS,
    MASK,
    ROWS,
    LanguageModelScorer,
    make_classifier_scorer,
    state_spec,
)
from elman.models.spec import ModelSpec
from elman.models.store import build_model
from elman.training.gradients import make_train_step
from elman.training.objectives import classifier_loss, language_model_loss


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
    if phase == "infer":
        score = make_classifier_scorer(model)
        documents = [
            DocumentBatch(batch.token_ids, batch.padding_mask, batch.labels, np.arange(len(batch.labels)))
            for batch in batches
        ]

        def infer() -> None:
            score(documents)

        return infer
    inputs = [(batch.token_ids, batch.padding_mask, batch.labels) for batch in batches]
    loss, optimizer = partial(classifier_loss, model), keras.optimizers.Adam(1e-3)
    train = make_train_step(model, optimizer, loss, [IDS, MASK, ROWS, ()], global_clipnorm=1.0, clipnorm=None)

    def step() -> None:
        for batch in inputs:
            result = train(*batch, ())
            float(result.nll_sum), float(result.gradient_norm)

    return step


def _language_model_step(model: LanguageModel, batch: Batch, phase: str) -> Step:
    rows = len(batch.lengths)
    window = Window(
        batch.token_ids,
        batch.targets,
        batch.padding_mask,
        places=np.arange(batch.token_ids.size).reshape(batch.token_ids.shape),
        keep=np.arange(rows, dtype=np.int32),
        reset=np.zeros(rows, bool),
    )
    if phase == "infer":
        score = LanguageModelScorer(model)

        def infer() -> None:
            score([window], batch.token_ids.size)

        return infer
    signature = [IDS, IDS, MASK, ROWS, FLAGS, state_spec(model)]
    loss, optimizer = partial(language_model_loss, model), keras.optimizers.SGD(1.0)
    train = make_train_step(model, optimizer, loss, signature, global_clipnorm=0.25, clipnorm=None)
    held = {"state": model.encoder.zero_state(rows)}

    def step() -> None:
        result = train(window.token_ids, window.targets, window.padding_mask, window.keep, window.reset, held["state"])
        held["state"] = result.state
        float(result.nll_sum), float(result.gradient_norm)

    return step


if __name__ == "__main__":
    serve(Elman())
