import itertools
import json

import numpy as np
import pytest

from elman.config import RetrainingConfig
from elman.data.encoding import encode_texts
from elman.data.tokenizer import Tokenizer, train_sentencepiece
from elman.errors import ArtifactError, MetricError
from elman.retraining import drift_sample as module
from elman.retraining.drift import drift_report
from elman.retraining.drift_sample import DriftSample, drift_sample, kneser_ney_surprise

TEXTS = [
    f"the {colour} {animal} sat on mat {n}"
    for n in range(40)
    for colour in ("red", "blue")
    for animal in ("cat", "dog")
]


def tokenizer(*, byte_fallback: bool = False) -> Tokenizer:
    serialized = train_sentencepiece(TEXTS, model="unigram", vocab_size=400, byte_fallback=byte_fallback)
    return Tokenizer(serialized, model="unigram")


def test_unknown_tokens_and_byte_pieces_are_counted_by_document() -> None:
    texts = ["the red cat", "the \u0436 \u0436", "blue \u0436"]
    without = tokenizer()
    found = drift_sample(encode_texts(texts, tokenizer=without), tokenizer=without)
    assert found.unk_tokens.tolist() == [0, 2, 1]
    assert found.byte_tokens is None
    assert found.num_bytes.tolist() == [len(text.encode()) + 1 for text in texts]
    with_bytes = tokenizer(byte_fallback=True)
    found = drift_sample(encode_texts(texts, tokenizer=with_bytes), tokenizer=with_bytes, labels=["a", "b", "a"])
    assert found.unk_tokens.tolist() == [0, 0, 0]
    assert found.byte_tokens.tolist() == [0, 4, 2]
    assert found.labels == ("a", "b", "a")


def test_of_many_documents_as_many_as_the_limit_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_DOCUMENTS", 30)
    one = tokenizer()
    documents = encode_texts(TEXTS, tokenizer=one)
    nats = np.arange(160.0)
    found = drift_sample(documents, tokenizer=one, nll_nats=nats, labels=[str(n) for n in range(160)], seed=3)
    assert len(found) == 30
    places = found.nll_nats.astype(int)
    assert found.labels == tuple(str(place) for place in places)
    assert np.array_equal(found.num_tokens, documents.lengths[places])
    assert len(set(places)) == 30


def test_kneser_ney_is_more_surprised_by_other_text() -> None:
    one = tokenizer()
    learned, alike, other = (
        encode_texts(texts, tokenizer=one)
        for texts in (TEXTS[::2], TEXTS[1::2], ["mat on sat cat red the", "dog the blue 3 on on"])
    )
    size = one.vocab_size
    per_token = [
        kneser_ney_surprise(learned, scored, vocab_size=size).sum() / scored.num_tokens for scored in (alike, other)
    ]
    assert per_token[1] > 1.5 * per_token[0]
    assert kneser_ney_surprise(learned, encode_texts([], tokenizer=one), vocab_size=size).shape == (0,)


def news(random: np.random.Generator, documents: int, *, topic: int) -> list[str]:
    """Sentences of sixty words; each topic has words of its own that are frequent."""
    words = ["".join(pair) for pair in itertools.product("bdfgklmnprst", ("ale", "ino", "ura", "esk", "ot"))]
    weights = np.roll(1.0 / (1.0 + np.arange(len(words))), 20 * topic)
    return [" ".join(random.choice(words, 12, p=weights / weights.sum())) for _ in range(documents)]


def test_another_topic_surprises_and_another_alphabet_is_unknown_to_the_tokenizer() -> None:
    random = np.random.default_rng(1)
    train, held_out, alike = (news(random, number, topic=0) for number in (300, 100, 60))
    one = Tokenizer(train_sentencepiece(train, model="unigram", vocab_size=150), model="unigram")
    learned = encode_texts(train, tokenizer=one)

    def sample(texts: list[str]) -> DriftSample:
        documents = encode_texts(texts, tokenizer=one)
        nats = kneser_ney_surprise(learned, documents, vocab_size=one.vocab_size)
        return drift_sample(documents, tokenizer=one, nll_nats=nats)

    def alarms(texts: list[str]) -> tuple[str, ...]:
        return drift_report(sample(held_out), sample(texts), RetrainingConfig(), resamples=1_000).alarms

    assert alarms(alike) == ()
    assert "surprise" in alarms(news(random, 60, topic=1))
    assert "unk_share" in alarms([*alike[5:], *(text.translate({ord("a"): "\u0436"}) for text in alike[:5])])


def test_a_sample_survives_json() -> None:
    one = tokenizer()
    found = drift_sample(encode_texts(TEXTS[:5], tokenizer=one), tokenizer=one, nll_nats=np.arange(5) / 3)
    stored = DriftSample.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False)))
    assert stored.to_json() == found.to_json()
    assert stored.num_tokens.dtype == np.int64
    assert (
        len(
            DriftSample.from_json(
                DriftSample(**{n: np.zeros(0, np.int64) for n in ("num_tokens", "num_bytes", "unk_tokens")}).to_json()
            )
        )
        == 0
    )
    with pytest.raises(ArtifactError, match="not a sample"):
        DriftSample.from_json({"num_tokens": [1]})


def test_figures_that_cannot_be_are_refused() -> None:
    one = np.array([3, 4])
    with pytest.raises(MetricError, match="a figure a document"):
        DriftSample(num_tokens=one, num_bytes=one, unk_tokens=one, labels=("a",))
    with pytest.raises(MetricError, match="without tokens or bytes"):
        DriftSample(num_tokens=one, num_bytes=np.array([0, 4]), unk_tokens=one)
    with pytest.raises(MetricError, match="not a finite number"):
        DriftSample(num_tokens=one, num_bytes=one, unk_tokens=one, nll_nats=np.array([1.0, np.inf]))
