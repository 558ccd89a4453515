"""Text to token ids in a TensorFlow graph: the cleaning and the tokenizer of `elman.data`, in operations of a file.

Where the two can differ: Python and TensorFlow's text operations each bring tables of Unicode, of different versions,
so that characters newer than the older table may be normalised, lowered or seen as invisible by one of them only. Text
that is not UTF-8, which `elman` refuses, gets U+FFFD in the place of what is wrong.
"""

from pathlib import Path
from typing import Any

import tensorflow as tf
import tensorflow_text

from elman.artifacts import read_json
from elman.data.tokenizer import METADATA_FILE, MODEL_FILE, UNK_ID, Tokenizer
from elman.errors import ConversionError
from elman.models.serving import Cleaning

# As in elman.data.cleaning: control characters that are white space become a space, the others and U+FEFF go.
_SPACE_CONTROLS = r"[\x0b\x0c\x1c-\x1f\x{85}]"
_REMOVED = r"[\x00-\x08\x0e-\x1b\x7f-\x{84}\x{86}-\x{9f}\x{feff}]"
# What str.split and str.isspace take for white space.
_WHITE = r"\t-\r\x1c-\x1f \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"


def clean_texts(texts: Any, cleaning: Cleaning) -> Any:
    """What `clean_text` makes of each text.

    Args:
        texts: string (B,). UTF-8.
        cleaning: The model's own.

    Returns:
        string (B,).
    """
    texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace")
    texts = tf.strings.regex_replace(texts, _REMOVED, "")
    texts = tf.strings.regex_replace(texts, _SPACE_CONTROLS, " ")
    texts = _normal(texts, cleaning.unicode_form)
    if cleaning.lowercase:
        texts = _lowered(texts, cleaning.unicode_form)
    if cleaning.whitespace == "collapse":
        texts = tf.strings.regex_replace(texts, f"[{_WHITE}]+", " ")
        texts = tf.strings.regex_replace(texts, "^ | $", "")
    else:
        texts = tf.strings.regex_replace(texts, "\r\n?", "\n")
    empty = tf.strings.regex_full_match(texts, rf"[{_WHITE}\p{{Cf}}\p{{Cc}}]*")
    return tf.where(empty, tf.constant(""), texts)


def _normal(texts: Any, form: str) -> Any:
    return texts if form == "none" else tensorflow_text.normalize_utf8(texts, form)


def _lowered(texts: Any, form: str) -> Any:
    """Lowers until nothing changes: lowering can leave the normal form, and composing can bring a capital back."""

    def lower(texts: Any) -> Any:
        return tf.strings.lower(texts, encoding="utf-8")

    def changes(texts: Any) -> Any:
        return tf.reduce_any(tf.not_equal(lower(texts), texts))

    (texts,) = tf.while_loop(changes, lambda texts: (_normal(lower(texts), form),), (texts,))
    return texts


class GraphTokenizer(tf.Module):
    """The tokenizer in a folder that `train_tokenizer` wrote.

    Args:
        folder: With tokenizer.model and tokenizer.json.

    Raises:
        ConversionError: A word model whose normalization is not identity: only the words' table can stand in a graph.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(name="tokenizer")
        metadata = read_json(folder / METADATA_FILE)
        self._words = None
        if metadata["model"] != "word":
            self._pieces = tensorflow_text.SentencepieceTokenizer((folder / MODEL_FILE).read_bytes(), out_type=tf.int32)
            return
        normalization = metadata.get("normalization", "identity")
        if normalization != "identity":
            raise ConversionError(
                f"{folder}: a word tokenizer with the normalization {normalization} cannot be exported with strings as "
                "inputs: TensorFlow has no operation for that alone. Export to onnx or litert, which take ids"
            )
        tokenizer = Tokenizer.load(folder)
        ids = list(range(4, tokenizer.vocab_size))
        words = [tokenizer.piece(number).removeprefix("▁") for number in ids]
        table = tf.lookup.KeyValueTensorInitializer(words, ids, tf.string, tf.int32)
        self._words = tf.lookup.StaticHashTable(table, default_value=UNK_ID)

    def __call__(self, texts: Any) -> Any:
        """Ragged int32 (B, T): the ids of clean texts, string (B,), without eos."""
        if self._words is None:
            return self._pieces.tokenize(texts)
        words = tf.strings.split(tf.strings.regex_replace(texts, "▁", " "), sep=" ")
        written = tf.repeat(tf.not_equal(texts, ""), words.row_lengths())  # an empty text has no word
        return tf.ragged.boolean_mask(words.with_values(self._words.lookup(words.values)), words.with_values(written))
