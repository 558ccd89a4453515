"""The perplexity block: four measures of one language model on one text, from sums and counts.

Perplexity is exp of the mean negative log-likelihood, and the mean is over something. Over tokens it depends on the
tokenizer; over words and over bytes it does not, so those two are what models with different tokenizers can be
compared by. All four come from the same sum, divided once.
"""

import math

from elman.errors import MetricError

_LARGEST_EXPONENT = 700.0  # exp of more than about 709 is not a float64

MEASURES = ("nll_nats_per_token", "perplexity", "perplexity_per_word", "bits_per_byte")


def perplexity_block(
    *,
    nll_nats: float,
    num_tokens: int,
    num_words: int,
    num_bytes: int,
    num_documents: int,
    num_unk: int,
) -> dict[str, float | int | bool | None]:
    """The measures of a language model and the counts they rest on.

    With N = the sum of -ln p over all targets (each token and one eos a document, each once):
    `nll_nats_per_token` = N / tokens, `perplexity` = exp(N / tokens), `perplexity_per_word` = exp(N / words),
    `bits_per_byte` = N / (ln 2 * bytes).

    Args:
        nll_nats: N, in nats.
        num_tokens: Targets scored, eos included.
        num_words: Words separated by white space, plus one eos for each document.
        num_bytes: UTF-8 bytes of the prepared text, plus one for each eos.
        num_documents: Documents scored.
        num_unk: Targets that are the unknown token.

    Returns:
        The measures, the counts, `unk_fraction`, and `perplexity_overflow`: True where a perplexity is too large for a
        float; that perplexity is None then, and the negative log-likelihood still stands.

    Raises:
        MetricError: Nothing was scored, or the sum is not finite. Zero tokens are not a perfect model.

    Example:
        >>> block = perplexity_block(
        ...     nll_nats=4 * math.log(8), num_tokens=4, num_words=2, num_bytes=12, num_documents=1, num_unk=1)
        >>> round(block["perplexity"], 9), round(block["perplexity_per_word"], 9), round(block["bits_per_byte"], 9)
        (8.0, 64.0, 1.0)
    """
    counts = {"num_tokens": num_tokens, "num_words": num_words, "num_bytes": num_bytes, "num_documents": num_documents}
    empty = [name for name, count in counts.items() if count <= 0]
    if empty:
        raise MetricError(
            f"perplexity needs at least one of each, but {', '.join(empty)} came as 0: is the split empty?"
        )
    if not math.isfinite(nll_nats):
        raise MetricError(f"the summed negative log-likelihood is {nll_nats}: the model's outputs are not finite")
    per_token, per_word = nll_nats / num_tokens, nll_nats / num_words
    return {
        "nll_nats_per_token": per_token,
        "perplexity": _exp(per_token),
        "perplexity_per_word": _exp(per_word),
        "bits_per_byte": nll_nats / math.log(2.0) / num_bytes,
        **counts,
        "unk_fraction": num_unk / num_tokens,
        "perplexity_overflow": max(per_token, per_word) > _LARGEST_EXPONENT,
    }


def _exp(exponent: float) -> float | None:
    return math.exp(exponent) if exponent <= _LARGEST_EXPONENT else None
