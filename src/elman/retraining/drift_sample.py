"""What drift is measured on: a few figures of each document of a sample, and where they come from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.baselines.kneser_ney import fit_kneser_ney
from elman.baselines.ngram_counts import count_ngrams
from elman.data.sequences import EncodedDocuments, document_counts, document_sums
from elman.data.tokenizer import UNK_ID, Tokenizer
from elman.errors import ArtifactError, MetricError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

MAX_DOCUMENTS = 4_000  # more tell hardly more, and every resample draws them all
_ORDER = 3  # of the n-gram model
_BYTE_PIECE = re.compile("<0x[0-9A-F]{2}>")
_INTEGERS = ("num_tokens", "num_bytes", "unk_tokens", "byte_tokens")


@dataclass(frozen=True, kw_only=True)
class DriftSample:
    """Figures of N documents, all by the champion's tokenizer and, for the surprise, by one model.

    Both samples have to be of documents that the model has not learned from: of the accepted data valid and test, of
    the new data the rows that the accepted data lacks. A model is less surprised by what it has seen.

    Attributes:
        num_tokens: int64 (N,). Eos included.
        num_bytes: int64 (N,). Eos included.
        unk_tokens: int64 (N,). Tokens without a piece.
        byte_tokens: int64 (N,). Byte pieces, of characters without a piece of their own; None where the tokenizer has
            no such pieces.
        nll_nats: float64 (N,). Summed over a document's tokens; None where no model scored them.
        labels: (N,) names of classes; None for text without labels.

    Raises:
        MetricError: The columns differ in length, a document has no tokens, or a figure is not finite.
    """

    num_tokens: IntArray
    num_bytes: IntArray
    unk_tokens: IntArray
    byte_tokens: IntArray | None = None
    nll_nats: FloatArray | None = None
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        columns = {name: getattr(self, name) for name in self.__dataclass_fields__}
        lengths = {name: len(column) for name, column in columns.items() if column is not None}
        if len(set(lengths.values())) > 1:
            raise MetricError(f"a figure a document is needed for each measure of drift; {lengths} came")
        if len(self) and min(self.num_tokens.min(), self.num_bytes.min()) < 1:
            raise MetricError("a document without tokens or bytes came; each has its eos at least")
        if self.nll_nats is not None and not np.isfinite(self.nll_nats).all():
            raise MetricError("the surprise of some documents is not a finite number: is the champion damaged?")

    def __len__(self) -> int:
        return len(self.num_tokens)

    def to_json(self) -> dict[str, Any]:
        """Strict JSON; `from_json` reads it."""
        columns = {name: getattr(self, name) for name in (*_INTEGERS, "nll_nats")}
        return {
            **{name: None if column is None else column.tolist() for name, column in columns.items()},
            "labels": None if self.labels is None else list(self.labels),
        }

    @classmethod
    def from_json(cls, value: Any) -> "DriftSample":
        """Reads what `to_json` wrote.

        Raises:
            ArtifactError: It is something else.
        """
        try:
            integers = {name: _column(value[name], np.int64) for name in _INTEGERS}
            labels = None if value["labels"] is None else tuple(str(label) for label in value["labels"])
            return cls(**integers, nll_nats=_column(value["nll_nats"], np.float64), labels=labels)
        except (KeyError, TypeError, ValueError, MetricError) as error:
            raise ArtifactError(f"not a sample that drift was measured on ({error!r}); delete its record") from None


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
    number = len(documents)
    kept = np.arange(number)
    if number > MAX_DOCUMENTS:
        kept = np.sort(np.random.default_rng(seed).choice(number, MAX_DOCUMENTS, replace=False))
    pieces = np.array([_BYTE_PIECE.fullmatch(tokenizer.piece(n)) is not None for n in range(tokenizer.vocab_size)])
    ids, counts = documents.token_ids, document_counts(documents)
    return DriftSample(
        num_tokens=counts["num_tokens"][kept].astype(np.int64),
        num_bytes=counts["num_bytes"][kept].astype(np.int64),
        unk_tokens=document_sums((ids == UNK_ID).astype(np.float64), documents)[kept].astype(np.int64),
        byte_tokens=document_sums(pieces[ids].astype(np.float64), documents)[kept].astype(np.int64)
        if pieces.any()
        else None,
        nll_nats=None if nll_nats is None else nll_nats[kept],
        labels=None if labels is None else tuple(labels[place] for place in kept.tolist()),
    )


def kneser_ney_surprise(learned: EncodedDocuments, scored: EncodedDocuments, *, vocab_size: int) -> FloatArray:
    """The surprise where there is no language model: that of a Kneser-Ney model of order 3.

    Args:
        learned: Documents to count n-grams in: the champion's train split.
        scored: Other documents, by the same tokenizer.
        vocab_size: Pieces of the tokenizer.

    Returns:
        float64 (documents of `scored`,). Nats, summed over a document.

    Raises:
        MetricError: There is nothing to learn from.
    """
    if not len(scored):
        return np.zeros(0)
    counts = count_ngrams(learned.token_ids, learned.lengths, order=_ORDER, vocab_size=vocab_size)
    model = fit_kneser_ney(counts, order=_ORDER)
    return document_sums(-model.log_probabilities(scored.token_ids, scored.lengths), scored)


def _column(values: Any, kind: type[Any]) -> Any:
    return None if values is None else np.array(values, dtype=kind)
