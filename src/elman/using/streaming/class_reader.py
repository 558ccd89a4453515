"""A classifier that reads texts as they come: the class probabilities so far."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import tensorflow as tf

from elman.errors import ArtifactError, MetricError
from elman.models.classifier import Classifier
from elman.models.running_classifier import Running, RunningClassifier
from elman.models.scoring import state_spec
from elman.using.answers import Classification
from elman.using.streaming.carried import ROWS, Array, Carried, Ids, rows_of, side_by_side, stacked


class ClassReader:
    """The class of each text as if it ended here, many texts side by side.

    Args:
        model: The classifier.
        labels: By number.
        max_length: Tokens of a text that it reads, eos included; more of them change nothing.

    Raises:
        ArtifactError: The classifier reads in both directions.
    """

    def __init__(self, model: Classifier, labels: Sequence[str], *, max_length: int) -> None:
        if model.spec.bidirectional:
            raise ArtifactError(
                "this classifier is bidirectional: it reads a text from its end too, so that it can say nothing before "
                "the whole text is there. Use classify, or train with classifier.bidirectional: false"
            )
        self._labels, self._read_at_most = labels, max_length - 1
        self._running = RunningClassifier(model)
        self._dtypes = [part.dtype for part in state_spec(model)]
        start = self._running.start()
        self._start = Carried(rows_of(start.state)[0], rows_of([start.total, start.highest])[0])

    def start(self) -> Carried:
        """Before the first token."""
        return self._start

    def read(
        self, carried: Sequence[Carried], ids: Sequence[Ids], *, ended: bool
    ) -> tuple[list[Classification], list[Carried]]:
        """What `classify` would say of each text so far, and what is carried on.

        Args:
            carried: Of each text.
            ids: int32 (T,) each. The tokens that come next.
            ended: Whether all texts end with them, and new ones begin.

        Raises:
            MetricError: The model's outputs are not finite.
        """
        read = [own[: max(0, self._read_at_most - one.num_tokens)] for one, own in zip(carried, ids, strict=True)]
        states = [one.state for one in carried]
        pooled = [one.pooled for one in carried]
        for part in side_by_side(read):
            before = self._tensors([states[row] for row in part.rows], [pooled[row] for row in part.rows])
            after = self._running.read(part.padded(read), part.mask, before)
            rows = zip(part.rows, rows_of(after.state), rows_of([after.total, after.highest]), strict=True)
            for row, state, sums in rows:
                states[row], pooled[row] = state, sums
        new = [
            replace(one, state=state, pooled=sums, num_tokens=one.num_tokens + len(own))
            for one, state, sums, own in zip(carried, states, pooled, ids, strict=True)
        ]
        answers = self._answers(new)
        return answers, [self._start] * len(new) if ended else new

    def _tensors(self, states: list[tuple[Array, ...]], pooled: list[tuple[Array, ...]]) -> Running:
        state = tuple(tf.cast(part, dtype) for part, dtype in zip(stacked(states), self._dtypes, strict=True))
        return Running(state, *map(tf.convert_to_tensor, stacked(pooled)))

    def _answers(self, carried: list[Carried]) -> list[Classification]:
        answers = []
        for first in range(0, len(carried), ROWS):
            rows = carried[first : first + ROWS]
            read = np.array([min(one.num_tokens, self._read_at_most) for one in rows], np.float32)
            running = self._tensors([one.state for one in rows], [one.pooled for one in rows])
            scores = np.exp(self._running.log_probabilities(running, read).numpy().astype(np.float64))  # (B, C)
            if not np.isfinite(scores).all():
                raise MetricError("the model's outputs are not finite")
            answers += [self._answer(row, one) for row, one in zip(scores, rows, strict=True)]
        return answers

    def _answer(self, probabilities: np.ndarray, carried: Carried) -> Classification:
        best = int(probabilities.argmax())
        return Classification(
            label=self._labels[best],
            probability=float(probabilities[best]),
            probabilities=dict(zip(self._labels, probabilities.tolist(), strict=True)),
            num_tokens=carried.num_tokens + 1,
            num_tokens_read=min(carried.num_tokens, self._read_at_most) + 1,
        )
