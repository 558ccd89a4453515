"""Small trained tokenizers of every kind."""

from functools import cache

from elman.data.tokenizer import Tokenizer, train_sentencepiece
from elman.data.training_text import TrainingText

KINDS = ("unigram", "bpe", "word", "char", "unigram with bytes", "unigram nmt_nfkc")
TEXTS = [
    "the cat sat on the mat and the dog sat on the log",
    "films are great, and great films are rare",
    "tabs\tand\nlines and  two spaces",
    "über den Fluß ging die Katze",
] * 3


@cache
def trained(kind: str) -> Tokenizer:
    """A tokenizer that was trained on `TEXTS`."""
    model = kind.split()[0]
    serialized = train_sentencepiece(
        TrainingText(TEXTS),
        model=model,
        vocab_size=400,
        byte_fallback=kind.endswith("bytes"),
        normalization="nmt_nfkc" if kind.endswith("nfkc") else "identity",
    )
    return Tokenizer(serialized, model=model)
