"""What drift is measured on: some figures of each document of a sample, and where they come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.data.sequences import EncodedDocuments
from elman.data.tokenizer import Tokenizer

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

MAX_DOCUMENTS = 4_000


@dataclass(frozen=True, kw_only=True)
class DriftSample:
    """Figures of N documents, all by the champion's tokenizer and, for the surprise, by one model.

    Both samples have to be of documents that the model has not learned from: of the accepted data valid and test, of
    the new data the rows that the accepted data lacks. A model is less surprised by what it has seen.

    Attributes:
        num_tokens: int64 (N,). Eos included.
        num_bytes: int64 (N,). Eos included.
        unk_tokens: int64 (N,). Tokens without a piece.
        byte_tokens: int64 (N,). Byte pieces of characters without a piece.
        nll_nats: float64 (N,). Summed over a document's tokens; None where no model scored them.
        labels: (N,) names of classes; None for text without labels.
    """

    num_tokens: IntArray
    num_bytes: IntArray
    unk_tokens: IntArray
    byte_tokens: IntArray
    nll_nats: FloatArray | None = None
    labels: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.num_tokens)

    def to_json(self) -> dict[str, Any]:
        """Strict JSON; `from_json` reads it."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, value: Any) -> "DriftSample":
        """Reads what `to_json` wrote.

        Raises:
            ArtifactError: It is something else.
        """
        raise NotImplementedError


def drift_sample(
    documents: EncodedDocuments,
    *,
    tokenizer: Tokenizer,
    nll_nats: FloatArray | None = None,
    labels: Sequence[str] | None = None,
    seed: int = 1,
) -> DriftSample:
    """Figures of encoded documents; of more than `MAX_DOCUMENTS` so many drawn at random.

    Args:
        documents: N documents, encoded with `tokenizer` (`elman.data.encoding.encode_texts` or `read_encoded`).
        tokenizer: The champion's.
        nll_nats: float64 (N,). From the champion's language model, or from `kneser_ney_surprise`.
        labels: (N,) names of classes.
        seed: Of the draw.
    """
    raise NotImplementedError


def kneser_ney_surprise(learned: EncodedDocuments, scored: EncodedDocuments, *, vocab_size: int) -> FloatArray:
    """The surprise where there is no language model: that of a Kneser-Ney model of order 3.

    Args:
        learned: Documents to count n-grams in: the champion's train split.
        scored: Other documents, by the same tokenizer.
        vocab_size: Pieces of the tokenizer.

    Returns:
        float64 (documents of `scored`,). Nats, summed over a document.
    """
    raise NotImplementedError
