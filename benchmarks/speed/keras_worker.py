"""Stock Keras: its layers with masks passed on, one compiled step, as a careful user would write it."""

from typing import Any

import keras
import tensorflow as tf

from benchmarks.speed.worker import Step, serve
from benchmarks.speed.workloads import Batch, Workload

_CELLS = {"lstm": keras.layers.LSTM, "gru": keras.layers.GRU, "simple_rnn": keras.layers.SimpleRNN}


class StockKeras:
    """See `worker.Library`."""

    def set_threads(self, threads: int) -> None:
        """Threads of TensorFlow."""
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)

    def make_step(self, workload: Workload, batches: list[Batch], phase: str) -> Step:
        """One tf.function around a Keras model and optimizer."""
        keras.backend.clear_session()
        model = _Model(workload)
        language_model = workload.task == "language_model"
        optimizer = keras.optimizers.SGD(1.0) if language_model else keras.optimizers.Adam(1e-3)
        limit = 0.25 if language_model else 1.0
        inputs = [
            tuple(map(tf.constant, (b.token_ids, b.padding_mask, b.targets if language_model else b.labels)))
            for b in batches
        ]
        model.loss_of(*inputs[0], training=False)  # makes the weights
        optimizer.build(model.trainable_variables)
        specs = [tf.TensorSpec([None] * len(part.shape), part.dtype) for part in inputs[0]]

        @tf.function(input_signature=specs)
        def train(token_ids: Any, mask: Any, targets: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = model.loss_of(token_ids, mask, targets, training=True)
            gradients = tape.gradient(loss, [variable.value for variable in model.trainable_variables])
            gradients, _ = tf.clip_by_global_norm([tf.convert_to_tensor(g) for g in gradients], limit)
            optimizer.apply(gradients, model.trainable_variables)
            return loss

        @tf.function(input_signature=specs)
        def infer(token_ids: Any, mask: Any, targets: Any) -> Any:
            return model.loss_of(token_ids, mask, targets, training=False)

        run = train if phase == "train" else infer
        return lambda: [float(run(*batch)) for batch in inputs] and None

    def product(self, size: int) -> Step:
        """TensorFlow's matrix product."""
        a, b = tf.random.normal((size, size)), tf.random.normal((size, size))
        return lambda: tf.matmul(a, b).numpy()


class _Model(keras.Model):
    def __init__(self, workload: Workload) -> None:
        super().__init__()
        self.language_model = workload.task == "language_model"
        self.embedding = keras.layers.Embedding(workload.vocab_size, workload.embedding_dim)
        self.dropouts = [keras.layers.Dropout(workload.dropout) for _ in range(workload.num_layers + 1)]
        self.recurrent = [self._layer(workload, index) for index in range(workload.num_layers)]
        self.head = keras.layers.Dense(workload.vocab_size if self.language_model else workload.num_classes)

    def _layer(self, workload: Workload, index: int) -> Any:
        sequences = self.language_model or index + 1 < workload.num_layers
        layer = _CELLS[workload.cell](workload.units, return_sequences=sequences)
        return keras.layers.Bidirectional(layer) if workload.bidirectional else layer

    def loss_of(self, token_ids: Any, mask: Any, targets: Any, *, training: bool) -> Any:
        """Mean nats a document, or a token (language models are timed on full windows)."""
        x = self.dropouts[0](self.embedding(token_ids), training=training)
        for layer, dropout in zip(self.recurrent, self.dropouts[1:], strict=True):
            x = dropout(layer(x, mask=mask, training=training), training=training)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, self.head(x))
        return tf.reduce_mean(losses)


if __name__ == "__main__":
    serve(StockKeras())
