"""Ids made in TensorFlow's graph are those of this package, on strings that are hard to get right."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from elman.artifacts import sha256_file, write_json
from elman.data.cleaning import clean_text
from elman.data.tokenizer import METADATA_FILE, MODEL_FILE, VERSION, Tokenizer, train_sentencepiece
from elman.errors import ConversionError
from elman.exporting.graph_text import GraphTokenizer, clean_texts
from elman.models.serving import Cleaning

WRITTEN = [
    "", " ", "\t\n", "plain words", "Two  spaces,  and\ttabs", "  ends  ", "line\nend", "line\r\nend\rold",
    "a\x00b\x07c", "\ufeffmark\ufeff", "a\x1cb\x1fc\x85d", "\x7f\x80\x9f", "\u200b", "\u200b\u200d \u2060",
    "a\u200bb", "soft\xadhyphen", "nb\xa0space", "\u3000wide\u3000", "thin\u2009space", "\u2028line\u2029para",
    "\u1680ogham", "\u180e", "é", "e\u0301", "E\u0301", "Å\u212b\u030a", "ﬁne ﬀ", "①②", "Ⅷ", "ǅ", "Straße STRASSE",
    "ΣΑΣ ΟΔΟΣ.", "ΑΣ-ΑΣ Σ", "İstanbul ISPARTA ı", "K\u212a", "Ω\u2126", "한국어 \u1112\u1161\u11ab",
    "日本語のテキスト", "ｶﾞ ｱ", "中文，标点。", "الع\u064eر\u064eب\u0650ي\u064e\u0651ة", "ע\u05b4ב\u05b0ר\u05b4ית",
    "हिन\u094dदी क\u094dष", "ภาษาไทย", "Ελληνικά", "Русский ЁЖ", "👍", "👩\u200d👩\u200d👧\u200d👦 family",
    "🏳\ufe0f\u200d🌈🇩🇪", "𝔘𝔫𝔦 𝟛", "a\u0327\u0301", "a\u0301\u0327", "q\u0307\u0323", "\u0344", "▁", "▁▁ low", "a▁b",
    "</s>", "<s> <unk> <pad>", "<0x41>", "⁇", " ⁇ ", "\ufffd\ufffd", "%s {x} \\n $1 \\1", "^a$ [b] (c)*",
    "\"'`´’“”", "3.14 1,000 −5 ½", "x" * 300, "ab " * 120, "e\u0301" * 60, "\u0301", "\u0301a", "A\u030a\u0327",
    "ŉ ǰ ΐ", "ᾳ ᾼ ᾈ", "ẞ", "ſ ﬅ", "ẛ\u0323", "İ\u0307", "Ǆ Ǉ", "힣\u11a8", "\U0001d15e", "\u2000\u2001", "\u0958",
    "\u0345α", "\uf900", "\U0002f800",
]  # fmt: skip
PARTS = [
    "a", "B", "é", "E\u0301", "Σ", "σ", "İ", "\u0307", "\u0323", "ß", " ", "  ", "\n", "\r", "\t", "\x00", "\x1f",
    "\x85", "\xa0", "\u3000", "\u200b", "\ufeff", "▁", "한", "\u1112\u1161", "日", "ｱ", "👍", "\u200d", "ﬁ", "Ⅷ",
    ".", "-", "word", "</s>", "The", "key", "ǅ", "Å", "\u212b",
]  # fmt: skip
TRAINED_ON = [
    "the key near the cabinets is old",
    "The Keys, 3.14 of them; é ü ß σς",
    "日本語 한국어 ab word words </s>",
]
CLEANINGS = [
    Cleaning(unicode_form="NFC", lowercase=False, whitespace="collapse"),
    Cleaning(unicode_form="NFKC", lowercase=True, whitespace="collapse"),
    Cleaning(unicode_form="NFD", lowercase=True, whitespace="keep"),
    Cleaning(unicode_form="none", lowercase=True, whitespace="keep"),
    Cleaning(unicode_form="NFKD", lowercase=False, whitespace="keep"),
]


def hard_strings() -> list[str]:
    """200 texts: those written above, and random rows of what is hard in them."""
    random = np.random.default_rng(17)
    count = 200 - len(WRITTEN)
    return [*WRITTEN, *("".join(random.choice(PARTS, random.integers(1, 14))) for _ in range(count))]


def write_tokenizer(folder: Path, **options: object) -> Tokenizer:
    plain = {"model": "unigram", "vocab_size": 400, "byte_fallback": True, **options}
    folder.mkdir()
    serialized = train_sentencepiece(TRAINED_ON, **plain)  # type: ignore[arg-type]
    (folder / MODEL_FILE).write_bytes(serialized)
    known = {key: plain[key] for key in ("model", "normalization") if key in plain}
    size = Tokenizer(serialized, model=str(plain["model"])).vocab_size
    digest = sha256_file(folder / MODEL_FILE)
    write_json(folder / METADATA_FILE, {"version": VERSION, "vocab_size": size, "sha256": digest, **known})
    return Tokenizer.load(folder)


@pytest.mark.parametrize("cleaning", CLEANINGS, ids=lambda cleaning: "-".join(map(str, cleaning.model_dump().values())))
def test_200_hard_strings_are_cleaned_as_the_prepare_stage_cleans(cleaning: Cleaning) -> None:
    texts = hard_strings()
    assert len(texts) == 200
    found = tf.function(lambda given: clean_texts(given, cleaning))(tf.constant(texts)).numpy()
    for text, one in zip(texts, found, strict=True):
        assert one.decode() == clean_text(text, **cleaning.model_dump()), repr(text)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"model": "bpe", "normalization": "nmt_nfkc", "vocab_size": 340},
        {"normalization": "nfkc_cf", "byte_fallback": False, "vocab_size": 60},
        {"model": "char", "vocab_size": 50, "byte_fallback": False},
        {"model": "word", "vocab_size": 50, "byte_fallback": False},
    ],
    ids=["unigram", "bpe", "folded", "char", "word"],
)
def test_200_hard_strings_get_the_ids_of_this_package(tmp_path: Path, options: dict) -> None:
    tokenizer = write_tokenizer(tmp_path / "tokenizer", **options)
    texts = hard_strings()
    for cleaning in CLEANINGS[:4:3]:
        clean = [clean_text(text, **cleaning.model_dump()) for text in texts]
        encode = GraphTokenizer(tmp_path / "tokenizer")
        run = tf.function(lambda given, encode=encode, by=cleaning: encode(clean_texts(given, by)))
        found = run(tf.constant(texts))
        for text, one, expected in zip(texts, found.to_list(), tokenizer.encode_batch(clean), strict=True):
            assert one == expected.tolist(), repr(text)


def test_bytes_that_are_no_utf_8_become_replacement_characters() -> None:
    # elman refuses such a row; a graph has no way to do so for one row of a batch.
    (found,) = clean_texts(tf.constant([b"o\xffld"]), CLEANINGS[0]).numpy()
    assert found.decode() == "o\ufffdld"


def test_a_word_tokenizer_that_normalizes_is_refused(tmp_path: Path) -> None:
    write_tokenizer(tmp_path / "tokenizer", model="word", normalization="nmt_nfkc", byte_fallback=False, vocab_size=50)
    with pytest.raises(ConversionError, match=r"normalization nmt_nfkc cannot be exported.*onnx or litert"):
        GraphTokenizer(tmp_path / "tokenizer")
