"""Answers as lines of a table: widths are fixed, so that a line can be printed as soon as it is known."""

from collections.abc import Iterator, Sequence

from elman.data.cleaning import clean_text, without_controls
from elman.using.answers import Block, Classification, Score

_SHOWN = 50  # characters of a text


def classification_header(labels: Sequence[str]) -> str:
    """The first line of a table of classes."""
    return f"{'row':>6}  {'class':<{_width(labels)}}  {'probability':>11}  {'tokens':>12}  text"


def classification_line(number: int, text: str, answer: Classification, *, labels: Sequence[str]) -> str:
    """One text; tokens are those read, and where it was cut, of how many."""
    tokens = f"{answer.num_tokens_read:,}" + (f" of {answer.num_tokens:,}" if answer.cut else "")
    label = f"{answer.label:<{_width(labels)}}"
    return f"{number:>6}  {label}  {answer.probability:>11.4f}  {tokens:>12}  {_excerpt(text)}".rstrip()


def score_header() -> str:
    """The first line of a table of scores."""
    return f"{'row':>6}  {'perplexity':>11}  {'bits/byte':>9}  {'nats':>11}  {'tokens':>8}  text"


def score_line(number: int, text: str, score: Score) -> str:
    """One text."""
    return (
        f"{number:>6}  {_number(score.perplexity):>11}  {score.bits_per_byte:>9.3f}  {score.nll_nats:>11,.3f}  "
        f"{score.num_tokens:>8,}  {_excerpt(text)}"
    ).rstrip()


def token_lines(score: Score) -> Iterator[str]:
    """One line a token: nats, then the piece."""
    for piece, nats in zip(score.pieces, score.token_nll_nats, strict=True):
        yield f"{'':>6}  {nats:>11.4f}  {piece}"


def total_line(measures: Block) -> str:
    """All texts together."""
    return (
        f"together: perplexity {_number(measures['perplexity'])} a token, "
        f"{_number(measures['perplexity_per_word'])} a word, {measures['bits_per_byte']:.4f} bits a byte, "
        f"{measures['nll_nats_per_token']:.4f} nats a token; {measures['num_documents']:,} texts, "
        f"{measures['num_tokens']:,} tokens, {measures['num_words']:,} words, {measures['num_bytes']:,} bytes"
    )


def printable(text: str) -> str:
    """A text without the characters that a terminal would obey; line ends and tabs stay."""
    return without_controls(text).replace("\r", "")


def _number(value: float | None) -> str:
    if value is None:
        return "overflow"
    return f"{value:,.1f}" if value < 1e8 else f"{value:.3g}"


def _width(labels: Sequence[str]) -> int:
    return max(len("class"), *(len(label) for label in labels))


def _excerpt(text: str) -> str:
    clean = clean_text(text[: 4 * _SHOWN])  # no character that a terminal would obey
    return clean if len(clean) <= _SHOWN and len(text) <= 4 * _SHOWN else f"{clean[:_SHOWN]}..."
