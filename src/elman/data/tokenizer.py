"""The SentencePiece model: text to ids and back. The only importer of sentencepiece.

Ids 0 to 3 are pad, unk, bos and eos. They never come out of text, except unk: a user who types `</s>` gets the pieces
of those four characters.

White space is kept as it is: SentencePiece writes a space as `▁` and puts one in front of the text, and neither merges
nor strips spaces here. So `decode` gives back the encoded text, with three exceptions:
characters without a piece (unk) come back as ` ⁇ `; `▁` (U+2581) itself comes back as a space; and a `normalization`
other than identity changes the text before it is encoded.

SentencePiece joins neighbouring unks into one. For characters that is left so; of a word model it would make one token
of any number of unseen words, so a word model is encoded here, by its vocabulary: one id a word.
"""

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sentencepiece

from elman.artifacts import read_json, sha256_file
from elman.errors import ArtifactError, TokenizerError

PAD_ID = 0
UNK_ID = 1
BOS_ID = 2
EOS_ID = 3
SPECIAL_PIECES = ("<pad>", "<unk>", "<s>", "</s>")  # by id

MODEL_FILE = "tokenizer.model"
METADATA_FILE = "tokenizer.json"
VERSION = 1

MAX_PIECE_BYTES = 4192  # SentencePiece drops longer training sentences without a word

# The number of threads is written into the model and changes the order of float sums in unigram training, so it is
# fixed: the same text and parameters give the same bytes on every machine.
_TRAINING_THREADS = 2


def train_sentencepiece(
    sentences: Iterable[str],
    *,
    model: str,
    vocab_size: int,
    character_coverage: float = 1.0,
    byte_fallback: bool = False,
    normalization: str = "identity",
    required_characters: str = "",
) -> bytes:
    """Trains a model and gives its serialized form.

    The vocabulary limit is soft: a text that supports fewer pieces than `vocab_size` gets as many as it supports.

    Args:
        sentences: Pieces of text, each at most `MAX_PIECE_BYTES` long in UTF-8 (longer ones would be dropped).
        model: unigram, bpe, word or char.
        vocab_size: Largest number of pieces, the four special ones included.
        character_coverage: Share of the characters, by count, that get a piece of their own.
        byte_fallback: Unseen characters become byte pieces instead of unk (unigram and bpe).
        normalization: Name of SentencePiece's rule: identity, nmt_nfkc, nfkc, nmt_nfkc_cf or nfkc_cf.
        required_characters: Characters that get a piece although SentencePiece would leave them out.

    Raises:
        TokenizerError: The text is empty, or `vocab_size` is below the number of characters (unigram and bpe).
    """
    written = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=written,
            model_type=model,
            vocab_size=vocab_size,
            hard_vocab_limit=False,
            character_coverage=character_coverage,
            byte_fallback=byte_fallback,
            normalization_rule_name=normalization,
            add_dummy_prefix=True,
            remove_extra_whitespaces=False,
            required_chars=required_characters,
            max_sentence_length=MAX_PIECE_BYTES,
            input_sentence_size=0,
            shuffle_input_sentence=False,
            num_threads=_TRAINING_THREADS,
            pad_id=PAD_ID,
            unk_id=UNK_ID,
            bos_id=BOS_ID,
            eos_id=EOS_ID,
            minloglevel=3,
        )
    except RuntimeError as error:
        raise TokenizerError(_training_failure(str(error), model=model, vocab_size=vocab_size)) from None
    return written.getvalue()


def _training_failure(message: str, *, model: str, vocab_size: int) -> str:
    if "sentences_.empty()" in message:
        return "the tokenizer has no text to learn from: the train split is empty"
    if "smaller than required_chars" in message:
        return (
            f"tokenizer.vocab_size {vocab_size} is too small for {model}: every character of the train split, the "
            f"four special pieces and (with byte_fallback) 256 bytes need a piece. Raise tokenizer.vocab_size or lower "
            f"tokenizer.character_coverage. SentencePiece says: {message}"
        )
    return f"SentencePiece could not train a {model} tokenizer with tokenizer.vocab_size {vocab_size}: {message}"


class Tokenizer:
    """A trained tokenizer; made by `Tokenizer.load` from a folder or from the serialized model."""

    pad_id = PAD_ID
    unk_id = UNK_ID
    bos_id = BOS_ID
    eos_id = EOS_ID

    def __init__(self, serialized: bytes, *, model: str, source: str = "tokenizer") -> None:
        """Takes a serialized model of the type `model` (unigram, bpe, word, char); `source` is named in errors.

        Raises:
            TokenizerError: The bytes are not a SentencePiece model with pad 0, unk 1, bos 2 and eos 3.
        """
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(serialized)
        except RuntimeError as error:
            raise TokenizerError(f"{source}: not a usable SentencePiece model ({error})") from None
        ids = tuple(int(getattr(self._processor, f"{name}_id")()) for name in ("pad", "unk", "bos", "eos"))
        if ids != (PAD_ID, UNK_ID, BOS_ID, EOS_ID):
            raise TokenizerError(
                f"{source}: special ids must be pad 0, unk 1, bos 2, eos 3; this model has "
                f"pad {ids[0]}, unk {ids[1]}, bos {ids[2]}, eos {ids[3]}. Train it with `dvc repro train_tokenizer`"
            )
        self._words: dict[str, int] | None = None
        if model == "word":
            self._words = {self.piece(number).removeprefix("▁"): number for number in range(4, self.vocab_size)}

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        """Loads what `train_tokenizer` wrote.

        Raises:
            TokenizerError: The model is missing, damaged, of another version, or not the one that was trained here.
        """
        path = folder / MODEL_FILE
        try:
            metadata = read_json(folder / METADATA_FILE)
        except ArtifactError as error:
            raise TokenizerError(str(error)) from None
        version = metadata.get("version") if isinstance(metadata, dict) else None
        if version != VERSION:
            raise TokenizerError(f"{folder / METADATA_FILE}: version {VERSION} is needed, found {version!r}")
        if not path.is_file():
            raise TokenizerError(f"{path}: no such file; run `dvc repro train_tokenizer`")
        digest = sha256_file(path)
        if digest != metadata.get("sha256"):
            raise TokenizerError(
                f"{path}: sha256 is {digest}, but {METADATA_FILE} names {metadata.get('sha256')}: the file is damaged "
                "or was put there from elsewhere; run `dvc repro train_tokenizer`"
            )
        tokenizer = cls(path.read_bytes(), model=str(metadata.get("model")), source=str(path))
        if tokenizer.vocab_size != metadata.get("vocab_size"):
            raise TokenizerError(
                f"{path}: {tokenizer.vocab_size} pieces, but {METADATA_FILE} says {metadata.get('vocab_size')}"
            )
        return tokenizer

    @property
    def serialized(self) -> bytes:
        """The SentencePiece model."""
        return bytes(self._processor.serialized_model_proto())

    @property
    def is_word_model(self) -> bool:
        """Whether every word is one token, known or unk."""
        return self._words is not None

    @property
    def vocab_size(self) -> int:
        """Number of pieces that the model really has; what an embedding must follow."""
        return int(self._processor.get_piece_size())

    def encode_batch(self, texts: Sequence[str], *, threads: int | None = None) -> list[npt.NDArray[np.int32]]:
        """Encodes texts in C++ threads.

        Args:
            texts: Any number of texts. None of them is cut.
            threads: Number of threads; None takes all cores. The ids do not depend on it. A word model takes one.

        Returns:
            One read-only int32 array (T,) a text, without bos and eos; of length 0 for an empty text.
        """
        if self._words is not None:
            return [self._encode_words(text) for text in texts]
        encoded: list[npt.NDArray[np.int32]] = self._processor.encode(
            list(texts), num_threads=-1 if threads is None else threads, return_type="numpy"
        )
        return encoded

    def byte(self, token_id: int) -> int | None:
        """The byte that a piece stands for, or None where it stands for text."""
        self._check(token_id)
        return int(self.piece(token_id)[3:5], 16) if self._processor.is_byte(int(token_id)) else None

    def decode(self, ids: Sequence[int] | npt.NDArray[Any]) -> str:
        """The text of `ids`; pad, bos and eos give nothing.

        Raises:
            TokenizerError: An id is not in the vocabulary.
        """
        values = [int(value) for value in ids]
        for value in values:
            self._check(value)
        return str(self._processor.decode(values))

    def piece(self, token_id: int) -> str:
        """The piece of one id, with `▁` for a space."""
        self._check(token_id)
        return str(self._processor.id_to_piece(int(token_id)))

    def normalize(self, text: str) -> str:
        """The text as the model sees it, with spaces written as spaces."""
        return str(self._processor.normalize(text)).removeprefix("▁").replace("▁", " ")

    def word_ids(self, text: str) -> list[int]:
        """To a word model: the ids of the words of `text`, also of an empty one between two spaces."""
        assert self._words is not None, "word_ids is for word models"
        return [self._words.get(word, UNK_ID) for word in self.normalize(text).split(" ")]

    def _encode_words(self, text: str) -> npt.NDArray[np.int32]:
        if not text:
            return np.zeros(0, np.int32)
        ids = np.array(self.word_ids(text), np.int32)
        ids.flags.writeable = False
        return ids

    def _check(self, token_id: int) -> None:
        if not 0 <= token_id < self.vocab_size:
            raise TokenizerError(f"id {token_id} is not in the vocabulary of {self.vocab_size} pieces")
