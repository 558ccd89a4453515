"""The sentences that the tokenizer learns from hold every byte of the documents."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from elman.data.tokenizer import UNK_ID, Tokenizer, train_sentencepiece
from elman.data.training_text import TrainingText

word = st.text(st.characters(exclude_categories=["Cs", "Zs"], exclude_characters="\u2585\0 <"), min_size=1)
documents = st.lists(st.lists(word, min_size=1, max_size=30).map(" ".join), max_size=5)


@given(documents)
def test_no_word_is_lost_or_torn(texts: list[str]) -> None:
    text = TrainingText(texts)
    assert [word for sentence in text for word in sentence.split(" ")] == [word for t in texts for word in t.split(" ")]
    assert text.bytes_seen == text.bytes_used == sum(len(t.encode()) for t in texts)


@given(st.text(st.sampled_from("ab \té日")))
@example("a b c d ")
@example("a b c d  e")
def test_a_space_in_front_of_every_sentence_gives_back_the_text(text: str) -> None:
    assert "".join(" " + sentence for sentence in TrainingText([text])) == (" " + text if text else "")


def test_long_documents_are_cut_at_spaces_below_the_limit() -> None:
    words = [f"word{number}" for number in range(20_000)]
    sentences = list(TrainingText([" ".join(words)]))
    assert max(len(sentence.encode()) for sentence in sentences) <= 4192
    assert " ".join(sentences).split(" ") == words


def test_a_word_over_the_limit_is_cut_between_characters_and_counted() -> None:
    text = TrainingText(["short " + "日本é" * 3000 + " tail", "x" * 4193])
    sentences = list(text)
    assert "".join(sentences) == "short" + "日本é" * 3000 + "tail" + "x" * 4193
    assert max(len(sentence.encode()) for sentence in sentences) <= 4192
    assert text.words_cut == 2
    assert text.bytes_used == text.bytes_seen


def test_words_found_only_in_lines_over_the_limit_are_covered() -> None:
    # google/sentencepiece#463: lines over 4,192 bytes are dropped from training without a word.
    short = ["plain words of a short line"] * 100
    long = ["filler " * 700 + "xylophone" + " filler" * 700] * 5
    text = TrainingText(short + long)
    tokenizer = Tokenizer(train_sentencepiece(text, model="word", vocab_size=100), model="word")
    assert text.bytes_seen == text.bytes_used == sum(map(len, short + long))
    assert UNK_ID not in tokenizer.encode_batch(["xylophone"])[0]


def test_all_words_of_the_text_are_in_a_large_enough_word_vocabulary() -> None:
    # SentencePiece itself drops nothing of what it is given.
    texts = [" ".join(f"w{i}x{j}" for j in range(300)) for i in range(20)]
    tokenizer = Tokenizer(train_sentencepiece(TrainingText(texts), model="word", vocab_size=100_000), model="word")
    pieces = {tokenizer.piece(number) for number in range(4, tokenizer.vocab_size)}
    assert pieces >= {f"▁{word}" for text in texts for word in text.split()}


def test_the_text_of_special_pieces_is_learned_from() -> None:
    # SentencePiece takes these strings out of its training text, so their characters would have no piece.
    text = TrainingText(["<pad>"] * 3 + ["x</s>y <s> <unk>"] * 3)
    tokenizer = Tokenizer(train_sentencepiece(text, model="char", vocab_size=100), model="char")
    assert text.bytes_seen == text.bytes_used
    (ids,) = tokenizer.encode_batch(["<pad>x</s>y<s><unk>"])
    assert UNK_ID not in ids


def test_reserved_characters_are_counted_and_cost_no_other_byte() -> None:
    # SentencePiece drops a whole sentence for one U+2585.
    text = TrainingText(["zebra \u2585quagga\u2585 \0okapi"] * 3)
    tokenizer = Tokenizer(train_sentencepiece(text, model="word", vocab_size=100), model="word")
    assert text.bytes_reserved == 3 * (3 + 3 + 1)
    assert text.bytes_used == text.bytes_seen - text.bytes_reserved
    assert UNK_ID not in tokenizer.encode_batch(["zebra quagga okapi"])[0]


def test_a_word_model_leaves_out_the_words_that_it_cannot_learn() -> None:
    # PTB writes <unk> for rare words: it is to be unk, and no half of it a piece.
    text = TrainingText(["the <unk> sat on ▅x mats"] * 3, whole_words=True)
    tokenizer = Tokenizer(train_sentencepiece(text, model="word", vocab_size=100), model="word")
    pieces = {tokenizer.piece(number) for number in range(4, tokenizer.vocab_size)}
    assert pieces - {"▁"} == {"▁the", "▁sat", "▁on", "▁mats"}
    assert text.bytes_seen == text.bytes_used + text.bytes_reserved
    assert tokenizer.encode_batch(["the <unk> <unk> sat"])[0].tolist()[1:3] == [UNK_ID, UNK_ID]


def test_whole_words_become_pieces_in_text_without_punctuation() -> None:
    # Given whole lines, unigram training has no candidate `▁april`: it is always followed by a space.
    random = np.random.default_rng(3)
    words = ["april", "said", "shares", "company", "dividend", "quarter", "record", "stock"]
    lines = [" ".join(random.choice(words, 12)) + " reuter" for _ in range(200)]
    tokenizer = Tokenizer(train_sentencepiece(TrainingText(lines), model="unigram", vocab_size=60), model="unigram")
    (ids,) = tokenizer.encode_batch([" ".join(words)])
    assert [tokenizer.piece(number) for number in ids] == [f"▁{word}" for word in words]


def test_a_sample_has_about_its_share_and_is_a_function_of_the_seed() -> None:
    texts = [f"document {number} " + "word " * 300 for number in range(2000)]

    def sample(seed: int) -> tuple[list[str], TrainingText]:
        text = TrainingText(texts, keep_fraction=0.25, random=np.random.default_rng(seed))
        return list(text), text

    sentences, text = sample(1)
    assert sentences == sample(1)[0]
    assert sentences != sample(2)[0]
    assert text.bytes_used + text.bytes_left_out == text.bytes_seen
    assert 0.2 < text.bytes_used / text.bytes_seen < 0.3


def test_a_huge_document_is_sampled_in_parts() -> None:
    text = TrainingText(["word " * 1_000_000], keep_fraction=0.5, random=np.random.default_rng(0))
    list(text)
    assert 0.4 < text.bytes_used / text.bytes_seen < 0.6
