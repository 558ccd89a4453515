"""The language model that knows how frequent each token is and nothing of its neighbours."""

import numpy as np
import numpy.typing as npt

from elman.data.tokenizer import BOS_ID, PAD_ID
from elman.errors import MetricError

NEVER_TARGETS = (PAD_ID, BOS_ID)  # no document holds them, so they get no probability


def unigram_log_probabilities(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Add-one unigram model: ln p(w) = ln((c(w) + 1) / (N + V)).

    c(w) is how often the token w stands in train, N the number of tokens there (eos included) and V the number of
    tokens that can be a target: the vocabulary without pad and bos. Adding one to each count keeps what train never
    shows from being impossible.

    Args:
        counts: int64 (vocab_size,). c(w) by token id.

    Returns:
        float64 (vocab_size,). Nats; minus infinity for pad and bos.

    Raises:
        MetricError: The counts hold pad or bos, or no token at all.

    Example:
        >>> logs = unigram_log_probabilities(np.array([0, 0, 0, 2, 4]))
        >>> np.exp(logs).round(4).tolist()  # of 6 tokens and 3 targets: 1/9, 3/9, 5/9
        [0.0, 0.1111, 0.0, 0.3333, 0.5556]

    References:
        jurafsky2009speech in docs/references.bib, section 4.5.1.
    """
    never = [token for token in NEVER_TARGETS if counts[token]]
    if never:
        raise MetricError(f"the text holds the ids {never} (pad or bos), which no encoded document may hold")
    total = int(counts.sum())
    if total == 0:
        raise MetricError("the unigram model cannot be made from 0 tokens: is the train split empty?")
    targets = len(counts) - len(NEVER_TARGETS)
    logs: npt.NDArray[np.float64] = np.log((counts + 1.0) / (total + targets))
    logs[list(NEVER_TARGETS)] = -np.inf
    return logs
