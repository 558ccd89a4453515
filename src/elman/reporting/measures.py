"""Which measures a report shows, what they are called, and how their numbers are written."""

from collections.abc import Mapping
from typing import Any, NamedTuple

NOT_AVAILABLE = "n/a"

TITLES = {
    "simple_rnn": "SimpleRNN",
    "lstm": "LSTM",
    "gru": "GRU",
    "majority": "Majority class",
    "tfidf": "TF-IDF + LR",
    "unigram": "Unigram",
    "kneser_ney": "Kneser-Ney",
}
TASK_TITLES = {"classifier": "classifier", "language_model": "language model"}


class Measure(NamedTuple):
    """One measure.

    Attributes:
        key: Its name in the files.
        title: Its name for a reader, with its unit.
        decimals: Digits after the point.
        lower_is_better: True for losses.
    """

    key: str
    title: str
    decimals: int
    lower_is_better: bool


ACCURACY = Measure("accuracy", "accuracy", 4, lower_is_better=False)
MACRO_F1 = Measure("macro_f1", "macro-F1", 4, lower_is_better=False)
DOCUMENT_NLL = Measure("nll_nats_per_document", "NLL, nats per document", 4, lower_is_better=True)
CALIBRATION = Measure("expected_calibration_error", "calibration error", 4, lower_is_better=True)
PERPLEXITY = Measure("perplexity", "perplexity per token", 1, lower_is_better=True)
PERPLEXITY_PER_WORD = Measure("perplexity_per_word", "perplexity per word", 1, lower_is_better=True)
BITS_PER_BYTE = Measure("bits_per_byte", "bits per byte", 3, lower_is_better=True)
NLL = Measure("nll_nats_per_token", "NLL, nats per token", 3, lower_is_better=True)

SHOWN: dict[str, tuple[Measure, ...]] = {
    "classifier": (ACCURACY, MACRO_F1),
    "language_model": (PERPLEXITY, PERPLEXITY_PER_WORD, BITS_PER_BYTE, NLL),
}
# The first one is what the verdict goes by; a language model's means the same for every tokenizer.
DRAWN: dict[str, tuple[Measure, ...]] = {
    "classifier": (ACCURACY, MACRO_F1),
    "language_model": (BITS_PER_BYTE, PERPLEXITY),
}
# All that two systems can be compared by.
COMPARED: dict[str, tuple[Measure, ...]] = {
    "classifier": (ACCURACY, MACRO_F1, DOCUMENT_NLL, CALIBRATION),
    "language_model": (BITS_PER_BYTE, PERPLEXITY_PER_WORD, PERPLEXITY, NLL),
}


def number(value: float | None, decimals: int) -> str:
    """A number as the reports write it; a value that is not known is "n/a".

    Example:
        >>> number(0.96532, 4), number(12345.678, 2), number(123.456, 2), number(None, 2)
        ('0.9653', '12,346', '123.46', 'n/a')
    """
    if value is None:
        return NOT_AVAILABLE
    if abs(value) >= 10_000:  # more digits than anybody reads, and no room for them
        return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.2e}"
    return f"{value:,.{decimals}f}"


def interval(values: Mapping[str, Any], decimals: int) -> str:
    """The ends of an interval, or "n/a" where there is none.

    Example:
        >>> interval({"low": 0.95, "high": 0.97}, 3), interval({"mean": 0.5, "low": None, "high": None}, 3)
        ('0.950 to 0.970', 'n/a')
    """
    low, high = values.get("low"), values.get("high")
    if low is None or high is None:
        return NOT_AVAILABLE
    return f"{number(low, decimals)} to {number(high, decimals)}"


def plus_minus(values: Mapping[str, Any], decimals: int, *, sign: str = "±") -> str:
    """Mean and half the width of its interval, which is symmetric; only the mean where there is no interval.

    Example:
        >>> plus_minus({"mean": 0.96, "low": 0.95, "high": 0.97}, 3)
        '0.960 ± 0.010'
        >>> plus_minus({"mean": 0.96}, 3), plus_minus({"mean": None, "low": None, "high": None}, 3)
        ('0.960', 'n/a')
    """
    mean, low, high = values.get("mean"), values.get("low"), values.get("high")
    if mean is None or low is None or high is None:
        return number(mean, decimals)
    return f"{number(mean, decimals)} {sign} {number((high - low) / 2, decimals)}"


def title(name: str) -> str:
    """The name of a cell, baseline or mixture for a reader.

    Example:
        >>> title("lstm"), title("lstm+kneser_ney")
        ('LSTM', 'LSTM + Kneser-Ney')
    """
    return " + ".join(TITLES.get(part, part) for part in name.split("+"))


def listed(names: list[str]) -> str:
    """Names as a sentence lists them.

    Example:
        >>> listed(["LSTM"]), listed(["LSTM", "GRU"]), listed(["SimpleRNN", "LSTM", "GRU"])
        ('LSTM', 'LSTM and GRU', 'SimpleRNN, LSTM and GRU')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
