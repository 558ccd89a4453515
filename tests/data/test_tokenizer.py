"""Text to ids and back; what may never come out of text; what is refused."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from hypothesis import example, given
from hypothesis import strategies as st

from elman.artifacts import sha256_file
from elman.data.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Tokenizer, train_sentencepiece
from elman.data.training_text import TrainingText
from elman.errors import TokenizerError

MODELS = ("unigram", "bpe", "word", "char")
TEXTS = [
    "the cat sat on the mat and the dog sat on the log",
    "films are great, and great films are rare",
    "</s> ends, <s> starts, <pad> fills and <unk> is not known; <0x41> is a byte",
    "tabs\tand\nlines and  two spaces",
] * 3
ALPHABET = sorted(set("".join(TEXTS)))

any_text = st.text(st.characters(exclude_categories=["Cs"]))
hostile_text = st.lists(
    st.sampled_from(["</s>", "<s>", "<pad>", "<unk>", "<0x00>", "<0x03>", "▁", " ", "\t", "the cat", "\u2585"])
    | any_text
).map("".join)


def trained(model: str, *, byte_fallback: bool = False, normalization: str = "identity") -> Tokenizer:
    return Tokenizer(
        train_sentencepiece(
            TrainingText(TEXTS),
            model=model,
            vocab_size=600,
            byte_fallback=byte_fallback,
            normalization=normalization,
            required_characters="\t",
        ),
        model=model,
    )


TOKENIZERS = {
    **{model: trained(model) for model in MODELS},
    **{f"{model} with bytes": trained(model, byte_fallback=True) for model in ("unigram", "bpe")},
}


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=hostile_text)
@example(text="great</s><pad><s>")
@example(text="<s>")
def test_no_text_encodes_to_pad_bos_or_eos(name: str, text: str) -> None:
    ids = TOKENIZERS[name].encode_batch([text])[0]
    assert not set(ids.tolist()) & {PAD_ID, BOS_ID, EOS_ID}


@pytest.mark.parametrize("name", ["unigram", "bpe", "char"])
def test_control_symbols_typed_by_a_user_stay_text(name: str) -> None:
    tokenizer = TOKENIZERS[name]
    (ids,) = tokenizer.encode_batch(["great</s><pad><s> <unk>"])
    assert UNK_ID not in ids
    assert tokenizer.decode(ids) == "great</s><pad><s> <unk>"


@pytest.mark.parametrize("name", ["unigram", "bpe", "word", "char"])
def test_an_unseen_character_becomes_unk_and_never_pad(name: str) -> None:
    (ids,) = TOKENIZERS[name].encode_batch(["日"])
    assert UNK_ID in ids
    assert PAD_ID not in ids


@pytest.mark.parametrize("name", ["unigram with bytes", "bpe with bytes"])
@given(text=hostile_text.filter(lambda text: "▁" not in text))
def test_byte_fallback_gives_back_any_text(name: str, text: str) -> None:
    tokenizer = TOKENIZERS[name]
    (ids,) = tokenizer.encode_batch([text])
    assert UNK_ID not in ids
    assert tokenizer.decode(ids) == text


@pytest.mark.parametrize("name", ["unigram", "bpe", "char"])
@given(text=st.text(st.sampled_from(ALPHABET)))
def test_text_of_known_characters_comes_back_with_all_its_white_space(name: str, text: str) -> None:
    tokenizer = TOKENIZERS[name]
    assert tokenizer.decode(tokenizer.encode_batch([text])[0]) == text


def test_a_word_that_was_never_seen_is_one_unk_for_the_word_model() -> None:
    tokenizer = TOKENIZERS["word"]
    (ids,) = tokenizer.encode_batch(["the axolotl sat"])
    assert [tokenizer.piece(number) for number in ids] == ["▁the", "<unk>", "▁sat"]
    assert tokenizer.decode(tokenizer.encode_batch(["the cat sat"])[0]) == "the cat sat"


@given(text=st.text(st.sampled_from([*ALPHABET, "日", "▁"])))
def test_a_word_model_gives_one_id_a_word(text: str) -> None:
    tokenizer = TOKENIZERS["word"]
    (ids,) = tokenizer.encode_batch([text])
    words = text.replace("▁", " ").split(" ") if text else []
    known = {tokenizer.piece(number): number for number in range(4, tokenizer.vocab_size)}
    assert ids.tolist() == [known.get(f"▁{word}", UNK_ID) for word in words]


def test_neighbouring_unseen_words_stay_several_unks() -> None:
    (ids,) = TOKENIZERS["word"].encode_batch(["the axolotl eats newts on the mat"])
    assert [int(number == UNK_ID) for number in ids] == [0, 1, 1, 1, 0, 0, 0]


def test_unk_and_the_space_mark_are_what_does_not_come_back() -> None:
    tokenizer = TOKENIZERS["char"]
    assert tokenizer.decode(tokenizer.encode_batch(["a日a"])[0]) == "a ⁇ a"
    assert tokenizer.decode(tokenizer.encode_batch(["a▁a"])[0]) == "a a"


def test_normalization_changes_text_before_it_is_encoded() -> None:
    tokenizer = trained("char", normalization="nmt_nfkc_cf")
    assert tokenizer.normalize("The ﬁlm") == "the film"
    assert tokenizer.decode(tokenizer.encode_batch(["THE FILM"])[0]) == "the film"


def test_identity_normalization_changes_nothing() -> None:
    text = "  The ﬁlm\u00a0\t x "
    assert TOKENIZERS["char"].normalize(text) == text


@pytest.mark.parametrize("threads", [1, 2, None])
def test_ids_do_not_depend_on_threads_or_on_the_batch(threads: int | None) -> None:
    tokenizer = TOKENIZERS["unigram"]
    texts = [*TEXTS, "", " "]
    alone = [tokenizer.encode_batch([text], threads=1)[0] for text in texts]
    for one, other in zip(alone, tokenizer.encode_batch(texts, threads=threads), strict=True):
        assert other.dtype == np.int32
        np.testing.assert_array_equal(one, other)


def test_special_ids_decode_to_nothing_and_have_their_names() -> None:
    tokenizer = TOKENIZERS["char"]
    (ids,) = tokenizer.encode_batch(["the"])
    assert tokenizer.decode([BOS_ID, *ids, EOS_ID, PAD_ID]) == "the"
    assert [tokenizer.piece(number) for number in range(4)] == ["<pad>", "<unk>", "<s>", "</s>"]


@pytest.mark.parametrize("number", [-1, 10_000])
def test_an_id_outside_the_vocabulary_is_refused(number: int) -> None:
    with pytest.raises(TokenizerError, match="not in the vocabulary"):
        TOKENIZERS["char"].decode([number])
    with pytest.raises(TokenizerError, match="not in the vocabulary"):
        TOKENIZERS["char"].piece(number)


def stored(folder: Path) -> Path:
    serialized = trained("char")
    (folder / "tokenizer.model").write_bytes(serialized._processor.serialized_model_proto())
    describe(folder, vocab_size=serialized.vocab_size)
    return folder


def describe(folder: Path, *, vocab_size: int, version: int = 1) -> None:
    digest = sha256_file(folder / "tokenizer.model")
    (folder / "tokenizer.json").write_text(
        json.dumps({"version": version, "sha256": digest, "vocab_size": vocab_size, "model": "char"})
    )


def test_a_stored_tokenizer_loads(tmp_path: Path) -> None:
    tokenizer = Tokenizer.load(stored(tmp_path))
    assert tokenizer.decode(tokenizer.encode_batch(["the cat"])[0]) == "the cat"


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    model = stored(tmp_path) / "tokenizer.model"
    model.write_bytes(model.read_bytes()[:-1])
    with pytest.raises(TokenizerError, match="damaged"):
        Tokenizer.load(tmp_path)


def test_bytes_that_are_no_model_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(b"no model at all")
    describe(tmp_path, vocab_size=3)
    with pytest.raises(TokenizerError, match="not a usable SentencePiece model"):
        Tokenizer.load(tmp_path)


def test_a_model_with_sentencepieces_own_special_ids_is_refused(tmp_path: Path) -> None:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS), model_writer=written, model_type="char", vocab_size=20, minloglevel=3
    )
    (tmp_path / "tokenizer.model").write_bytes(written.getvalue())
    describe(tmp_path, vocab_size=20)
    with pytest.raises(TokenizerError, match="pad -1, unk 0, bos 1, eos 2"):
        Tokenizer.load(tmp_path)


def test_another_version_and_another_size_are_refused(tmp_path: Path) -> None:
    stored(tmp_path)
    size = Tokenizer.load(tmp_path).vocab_size
    describe(tmp_path, vocab_size=size, version=2)
    with pytest.raises(TokenizerError, match="version 1 is needed, found 2"):
        Tokenizer.load(tmp_path)
    describe(tmp_path, vocab_size=size + 1)
    with pytest.raises(TokenizerError, match="pieces"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize("missing", ["tokenizer.model", "tokenizer.json"])
def test_a_missing_file_is_named_with_what_to_do(tmp_path: Path, missing: str) -> None:
    (stored(tmp_path) / missing).unlink()
    with pytest.raises(TokenizerError, match=rf"{missing}: no such file; run `dvc repro"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize("model", MODELS)
def test_a_vocabulary_too_large_for_the_text_gets_the_largest_possible_size(model: str) -> None:
    sentences = [f"sentence number {number} speaks of thing{number}" for number in range(20)]
    tokenizer = Tokenizer(train_sentencepiece(TrainingText(sentences), model=model, vocab_size=8000), model=model)
    assert 4 < tokenizer.vocab_size < 8000
    (ids,) = tokenizer.encode_batch([sentences[3]])
    assert ids.max() < tokenizer.vocab_size
    assert UNK_ID not in ids
    # It is the largest size indeed: one piece less can be had, and asking for more gives no more.
    for asked, expected in ((tokenizer.vocab_size - 1, -1), (tokenizer.vocab_size + 1, 0)):
        other = Tokenizer(train_sentencepiece(TrainingText(sentences), model=model, vocab_size=asked), model=model)
        assert other.vocab_size == tokenizer.vocab_size + expected


@pytest.mark.parametrize("model", ["unigram", "bpe"])
def test_a_vocabulary_smaller_than_the_alphabet_is_refused_with_the_numbers(model: str) -> None:
    with pytest.raises(TokenizerError, match=r"tokenizer\.vocab_size 10 is too small for .* 10 vs "):
        train_sentencepiece(TrainingText(TEXTS), model=model, vocab_size=10)


@pytest.mark.parametrize("model", MODELS)
def test_an_empty_text_is_refused(model: str) -> None:
    with pytest.raises(TokenizerError, match="no text to learn from"):
        train_sentencepiece(TrainingText([]), model=model, vocab_size=100)
