"""What one model scored on each document of the frozen test set."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.errors import MetricError

_COLUMNS = ("labels", "predicted", "nll_nats", "num_bytes")


@dataclass(frozen=True, kw_only=True)
class DocumentScores:
    """One model on N documents: of a classifier labels and predictions, of a language model nats and bytes.

    Attributes:
        ids: int64 (N,). The documents; any order, each once.
        labels: int (N,). Their classes; None for a language model.
        predicted: int (N,). The classes that the model chose; None for a language model.
        nll_nats: float64 (N,). Summed over a document's targets, in nats; of the label, where a classifier gives it.
        num_bytes: int (N,). UTF-8 bytes of the document and one for its eos; None for a classifier.

    Raises:
        MetricError: No documents, one of them twice, columns of other lengths, or columns of neither task.
    """

    ids: npt.NDArray[np.int64]
    labels: npt.NDArray[Any] | None = None
    predicted: npt.NDArray[Any] | None = None
    nll_nats: npt.NDArray[np.float64] | None = None
    num_bytes: npt.NDArray[Any] | None = None

    def __post_init__(self) -> None:
        number = len(self.ids)
        if number == 0:
            raise MetricError("a model is judged on test documents, and none came: is the test split empty?")
        if len(np.unique(self.ids)) != number:
            raise MetricError(f"each test document is scored once; {number} scores came for fewer documents")
        for name in _COLUMNS:
            column = getattr(self, name)
            if column is not None and column.shape != (number,):
                raise MetricError(f"{number} test documents, but {name} has the shape {column.shape}")
        given = tuple(name for name in _COLUMNS if getattr(self, name) is not None)
        if given not in (("labels", "predicted"), ("labels", "predicted", "nll_nats"), ("nll_nats", "num_bytes")):
            raise MetricError(
                "a classifier has labels and predicted, a language model nll_nats and num_bytes; "
                f"{', '.join(given) or 'neither'} came"
            )
        if self.labels is not None and self.labels.min() < 0:
            raise MetricError(f"{int(np.sum(self.labels < 0))} of {number} test documents have no label")
        if self.num_bytes is not None and self.num_bytes.min() < 1:
            raise MetricError("a test document has no bytes; each has one at least, for its eos")

    @property
    def is_classifier(self) -> bool:
        """Whether these are a classifier's scores, which have labels."""
        return self.labels is not None

    @property
    def is_finite(self) -> bool:
        """Whether every score is a number."""
        return self.nll_nats is None or bool(np.isfinite(self.nll_nats).all())

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        """Whether a classifier chose the document's class; bool (N,)."""
        assert self.labels is not None
        right: npt.NDArray[np.bool_] = self.labels == self.predicted
        return right

    @property
    def test_hash(self) -> str:
        """Names the frozen test set: equal for equal ids with equal labels or bytes, whatever their order."""
        order = np.argsort(self.ids, kind="stable")
        known = self.labels if self.labels is not None else self.num_bytes
        assert known is not None
        both = np.stack([self.ids[order], known[order]]).astype("<i8")  # (2, N)
        return hashlib.sha256(both.tobytes()).hexdigest()

    def in_order_of(self, other: "DocumentScores") -> "DocumentScores":
        """The same scores, in the order of another model's documents.

        Raises:
            MetricError: The other model was scored on other documents, or is of the other task.
        """
        if self.is_classifier != other.is_classifier:
            raise MetricError("a classifier and a language model came: models of one task can be compared")
        if self.test_hash != other.test_hash:
            common = len(np.intersect1d(self.ids, other.ids))
            same = ", but with other labels or bytes" if common == len(self.ids) == len(other.ids) else ""
            raise MetricError(
                f"both models have to be scored on the same documents; {len(other.ids)} and {len(self.ids)} came, "
                f"{common} of them with the same id{same}"
            )
        places = np.empty(len(self.ids), np.int64)
        places[np.argsort(other.ids, kind="stable")] = np.argsort(self.ids, kind="stable")
        columns = {name: getattr(self, name) for name in _COLUMNS}
        return DocumentScores(
            ids=self.ids[places],
            **{name: None if column is None else column[places] for name, column in columns.items()},
        )
