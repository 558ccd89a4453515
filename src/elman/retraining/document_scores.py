"""What one model scored on each document of the frozen test set."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


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

    @property
    def is_classifier(self) -> bool:
        """Whether these are a classifier's scores, which have labels."""
        return self.labels is not None

    @property
    def test_hash(self) -> str:
        """Names the frozen test set: equal for equal ids with equal labels or bytes, whatever their order."""
        raise NotImplementedError
