"""`elman.Stream`: a text in pieces is read as the whole, its state can be kept, and what does not fit is refused."""

from pathlib import Path

import numpy as np
import pytest

import elman
from elman.errors import ArtifactError, DataError
from elman.using.streaming.stream import Stream
from elman.using.streaming.surprise_reader import Surprise
from tests.helpers.pieces import cut_up
from tests.helpers.served_models import MAX_LENGTH, random_texts, write_served

TEXTS = random_texts(12, seed=4)
LONG = " \u200b ".join(TEXTS) + "\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("served")
    write_served(root, task="language_model", cell="lstm", num_layers=2, losses={1: 0.5, 2: 0.6})
    write_served(root, task="language_model", cell="gru", state="stream")
    write_served(root, cell="lstm", bidirectional=False, num_layers=2)
    write_served(root, cell="gru", bidirectional=False, pooling="last")
    write_served(root, cell="simple_rnn")
    return root


@pytest.fixture(scope="module")
def models(root: Path) -> dict:
    names = ("language_model/lstm", "language_model/gru", "classifier/lstm", "classifier/gru", "classifier/simple_rnn")
    return {name: elman.load(name, models=root / "models") for name in names}


def fed(stream: Stream, pieces: list[str]) -> list[Surprise]:
    return [*(token for piece in pieces for token in stream.feed(piece)), *stream.finish()]


def test_the_surprise_of_a_text_in_pieces_is_that_of_the_whole(models: dict) -> None:
    model = models["language_model/lstm"]
    (score,) = model.score([LONG])
    assert score.num_tokens > 300
    for pieces in ([LONG], cut_up(LONG, seed=1, pieces=7), cut_up(LONG, seed=2, pieces=200)):
        found = fed(elman.Stream(model), pieces)
        assert tuple(token.piece for token in found) == score.pieces
        np.testing.assert_allclose([token.nll_nats for token in found], score.token_nll_nats, rtol=0, atol=1e-5)


def test_a_token_is_told_as_soon_as_its_word_is_whole(models: dict) -> None:
    stream = Stream(models["language_model/lstm"])
    given = ["".join(token.piece for token in stream.feed(piece)) for piece in ["The k", "ey", " ", "by", "\n"]]
    assert given == ["▁the", "", "▁key", "", "▁by"]
    assert stream.num_tokens == len("▁the▁key▁by")
    known = stream.nll_nats
    (end,) = stream.finish()
    (score,) = models["language_model/lstm"].score(["the key by"])
    assert end.piece == "</s>"
    assert known + end.nll_nats == pytest.approx(score.nll_nats, rel=1e-5)
    assert (stream.num_tokens, stream.nll_nats) == (0, 0.0)


@pytest.mark.parametrize("name", ["language_model/lstm", "language_model/gru"])
def test_the_next_text_begins_as_the_model_was_trained(models: dict, name: str) -> None:
    model, stream = models[name], Stream(models[name])
    scores = model.score(TEXTS[:4])  # as trained: from a zero state each, or carried
    for text, score in zip(TEXTS[:4], scores, strict=True):
        nats = [token.nll_nats for token in fed(stream, [text])]
        np.testing.assert_allclose(nats, score.token_nll_nats, rtol=0, atol=1e-5)
    assert fed(Stream(model), [""]) == fed(Stream(model), [" ", "\u200b"])  # the eos alone


@pytest.mark.parametrize("name", ["classifier/lstm", "classifier/gru"])
def test_classes_of_a_text_in_pieces_are_those_of_the_text_so_far(models: dict, name: str) -> None:
    model = models[name]
    for text in [*TEXTS, "", LONG]:
        stream = Stream(model)
        pieces = cut_up(text, seed=len(text), pieces=5)
        so_far = [stream.feed(piece) for piece in pieces]
        expected = model.classify([text])[0]
        end = stream.finish()
        assert (end.label, end.num_tokens, end.cut) == (expected.label, expected.num_tokens, expected.cut)
        assert end.probabilities == pytest.approx(expected.probabilities, abs=1e-5)
        words = ["".join(pieces[:count]).rpartition(" ")[0] for count in range(1, 6)]  # whole words by then
        for one, other in zip(so_far, model.classify(words), strict=True):
            if one.num_tokens == other.num_tokens:
                assert one.probabilities == pytest.approx(other.probabilities, abs=1e-5)
    assert end.num_tokens_read == MAX_LENGTH < end.num_tokens
    assert stream.feed("") == Stream(model).feed("")


def test_a_bidirectional_classifier_is_refused_with_the_reason(models: dict) -> None:
    with pytest.raises(ArtifactError, match=r"bidirectional: it reads a text from its end too.*bidirectional: false"):
        Stream(models["classifier/simple_rnn"])


@pytest.mark.parametrize("name", ["language_model/lstm", "classifier/lstm"])
def test_many_streams_in_one_batch_are_read_as_each_alone(models: dict, name: str) -> None:
    model = models[name]
    texts = random_texts(300, seed=9)
    together = [Stream(model) for _ in texts]
    alone = {row: Stream(model) for row in range(0, 300, 23)}
    for place in range(3):
        pieces = [cut_up(text, seed=row, pieces=3)[place] for row, text in enumerate(texts)]
        found = Stream.feed_many(together, pieces)
        for row, stream in alone.items():
            _assert_equal(found[row], stream.feed(pieces[row]))
    found = Stream.finish_many(together)
    for row, stream in alone.items():
        _assert_equal(found[row], stream.finish())
    assert Stream.feed_many([], []) == []


def _assert_equal(one: object, other: object) -> None:
    if isinstance(one, list):
        assert [token.piece for token in one] == [token.piece for token in other]
        nats = [[token.nll_nats for token in tokens] for tokens in (one, other)]
        np.testing.assert_allclose(*nats, rtol=0, atol=1e-5)
    else:
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-5)


@pytest.mark.parametrize("name", ["language_model/lstm", "classifier/lstm"])
def test_a_fork_and_a_saved_stream_go_on_where_it_was(models: dict, name: str, tmp_path: Path) -> None:
    model = models[name]
    stream = Stream(model)
    for piece in cut_up(TEXTS[0] + " the ke", seed=3, pieces=4):
        stream.feed(piece)
    stream.save(tmp_path / "stream.npz")
    other, read, again = stream.fork(), Stream.load(model, tmp_path / "stream.npz"), stream.to_bytes()
    other.feed("ys near the")
    first = [stream.feed("y is old"), stream.finish()]
    assert [read.feed("y is old"), read.finish()] == first
    assert [other.feed(" cabinet"), other.finish()] != first
    assert Stream.from_bytes(model, again).to_bytes() == again


def test_the_state_of_another_model_or_a_damaged_one_is_refused(models: dict, root: Path, tmp_path: Path) -> None:
    model = models["language_model/lstm"]
    path = tmp_path / "stream.npz"
    Stream(model).save(path)
    same = elman.load(root / "models/language_model/lstm/seed-1")
    assert Stream.load(same, path).num_tokens == 0
    for other in (elman.load(root / "models/language_model/lstm/seed-2"), models["classifier/lstm"]):
        with pytest.raises(ArtifactError, match=r"stream\.npz: the state of another model \(sha256 [0-9a-f]{64}\)"):
            Stream.load(other, path)
    with pytest.raises(ArtifactError, match="no such file"):
        Stream.load(model, tmp_path / "none.npz")
    for damaged in (b"", b"text", path.read_bytes()[:-40], _npz({"facts": np.array([{}], object)}), _npz({})):
        with pytest.raises(ArtifactError, match="upload: no state of a stream, or damaged"):
            Stream.from_bytes(model, damaged, source="upload")
    for place in (6, 8):  # the archive's flags and its way of packing
        bits = bytearray(path.read_bytes())
        bits[place] ^= 1 if place == 6 else 99
        bits[bits.index(b"PK\x01\x02") + place + 2] ^= 1 if place == 6 else 99
        with pytest.raises(ArtifactError, match="damaged"):
            Stream.from_bytes(model, bytes(bits))
    with np.load(path) as file:
        arrays = {**file, "state/0": np.zeros(3, np.float32)}
    with pytest.raises(ArtifactError, match="damaged: holds"):
        Stream.from_bytes(model, _npz(arrays))


def _npz(arrays: dict) -> bytes:
    import io

    written = io.BytesIO()
    np.savez(written, **arrays)
    return written.getvalue()


def test_a_models_name_in_the_place_of_a_model_is_refused() -> None:
    with pytest.raises(DataError, match=r"model: what elman\.load gives is needed, but came str"):
        elman.Stream("lstm")


def test_what_is_no_text_is_refused_and_changes_no_stream(models: dict) -> None:
    model = models["language_model/lstm"]
    streams = [Stream(model), Stream(model)]
    before = [stream.to_bytes() for stream in streams]
    with pytest.raises(DataError, match=r"piece 2: character 3 is half of a surrogate pair"):
        Stream.feed_many(streams, ["the ", "ke\ud83d"])
    with pytest.raises(DataError, match="piece 1: a text is needed, but came bytes"):
        streams[0].feed(b"the ")
    with pytest.raises(DataError, match="twice"):
        Stream.feed_many([streams[0], streams[0]], ["a ", "b "])
    with pytest.raises(DataError, match="2 streams and 1 pieces"):
        Stream.feed_many(streams, ["a "])
    with pytest.raises(DataError, match="different models"):
        Stream.feed_many([streams[0], Stream(models["classifier/lstm"])], ["a ", "b "])
    assert [stream.to_bytes() for stream in streams] == before


def test_what_a_stream_holds_does_not_grow_with_its_text(models: dict) -> None:
    stream = Stream(models["language_model/lstm"])
    sizes = []
    for _ in range(20):
        stream.feed("the keys near the door are old " * 9)
        sizes.append(len(stream.to_bytes()))
    assert stream.num_tokens > 5_000
    assert max(sizes) - min(sizes) < 20  # the digits of the counts
