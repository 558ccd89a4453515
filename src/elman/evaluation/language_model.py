"""One trained language model on one split."""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from elman.data.sequences import EncodedDocuments, document_sums, perplexity_counts
from elman.data.stream_windows import evaluation_windows
from elman.metrics.perplexity import perplexity_block
from elman.models.language_model import LanguageModel
from elman.models.scoring import make_language_model_scorer


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


def evaluate_language_model(
    model: LanguageModel,
    split: EncodedDocuments,
    *,
    state: Literal["document", "stream"],
    window_length: int,
    rows: int = 32,
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
    score = make_language_model_scorer(model)
    windows = evaluation_windows(split, mode=state, rows=rows, window_length=window_length)
    return scored(score(windows, split.num_tokens), split)


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
