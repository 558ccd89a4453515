"""One trained language model on one split."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from elman.data.sequences import EncodedDocuments, document_sums, perplexity_counts
from elman.data.stream_windows import Window, evaluation_windows
from elman.metrics.perplexity import perplexity_block
from elman.models.encoder import State
from elman.models.language_model import LanguageModel
from elman.models.scoring import LanguageModelScorer

ROWS = 32  # documents side by side


class LanguageModelEvaluation(NamedTuple):
    """Scores of each token and document, and the measures made from them.

    Attributes:
        token_nll_nats: float64 (tokens,). Of every target, eos included, in the order of the split's `token_ids`.
        nll_nats: float64 (documents,). Summed over a document's targets.
        measures: The perplexity block.
    """

    token_nll_nats: npt.NDArray[np.float64]
    nll_nats: npt.NDArray[np.float64]
    measures: dict[str, float | int | bool | None]


def score_tokens(
    score: LanguageModelScorer,
    split: EncodedDocuments,
    *,
    state: Literal["document", "stream"],
    window_length: int,
    rows: int = ROWS,
    carried: State | None,
) -> tuple[npt.NDArray[np.float64], State | None]:
    """The nats of every target of every document; see `evaluate_language_model`.

    Args:
        score: The compiled model.
        split: Encoded documents, or for "stream" a part of them.
        state: "document" or "stream".
        window_length: Steps at a time; the result does not depend on it.
        rows: Documents side by side, for "document"; the result does not depend on it.
        carried: For "stream": what the call for the part before returned, None for the first part.

    Returns:
        float64 (tokens,), in the order of `split.token_ids`, and for "stream" the state after the last token.
    """
    windows: Iterable[Window] = evaluation_windows(split, mode=state, rows=rows, window_length=window_length)
    if state == "document":
        return score(windows, split.num_tokens)[0], None
    if carried is not None:
        windows = (window._replace(reset=np.zeros_like(window.reset)) for window in windows)
    return score(windows, split.num_tokens, state=carried)


def evaluate_language_model(
    model: LanguageModel,
    split: EncodedDocuments,
    *,
    state: Literal["document", "stream"],
    window_length: int,
    rows: int = ROWS,
) -> LanguageModelEvaluation:
    """Scores every target of every document once.

    Args:
        model: The language model.
        split: Encoded documents.
        state: "document" starts each document from zero; "stream" carries the state over all documents in order.
        window_length: Steps at a time; the result does not depend on it.
        rows: Documents side by side, for "document"; the result does not depend on it.

    Returns:
        Each token's nats, the sum of each document, and the perplexity block of the split.
    """
    nats, _ = score_tokens(
        LanguageModelScorer(model), split, state=state, window_length=window_length, rows=rows, carried=None
    )
    return scored(nats, split)


def scored(token_nll_nats: npt.NDArray[np.float64], split: EncodedDocuments) -> LanguageModelEvaluation:
    """The evaluation of a model that gives a split's tokens these nats.

    Args:
        token_nll_nats: float64 (tokens,). In the order of `split.token_ids`.
        split: Encoded documents.

    Raises:
        MetricError: The split is empty, or the nats are not finite.
    """
    nll_nats = document_sums(token_nll_nats, split)
    block = perplexity_block(nll_nats=float(nll_nats.sum()), **perplexity_counts(split))
    return LanguageModelEvaluation(token_nll_nats, nll_nats, block)
