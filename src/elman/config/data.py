"""The sections of the text: which it is, how it is cleaned, and how it is cut into tokens."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from elman.config.section import Fraction, PositiveInt, Section, Task, WholeFraction, as_tuple


class DatasetConfig(Section):
    """Which text is used, how it is read and how it is split."""

    path: Annotated[str, Field(min_length=1)]
    tasks: Annotated[tuple[Task, ...], BeforeValidator(as_tuple), Field(min_length=1)]
    format: Literal["auto", "csv", "tsv", "jsonl", "parquet", "lines", "blocks", "folders"] = "auto"
    text_column: Annotated[str, Field(min_length=1)] = "text"
    label_column: Annotated[str, Field(min_length=1)] | None = None
    encoding: Annotated[str, Field(min_length=1)] = "utf-8"
    train: str | None = None
    valid: str | None = None
    test: str | None = None
    split_column: str | None = None
    valid_fraction: Fraction = 0.1
    test_fraction: Fraction = 0.1

    @property
    def name(self) -> str:
        """The last part of the path without its suffix: what reports and runs call the data set."""
        return Path(self.path).stem

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(set(self.tasks)) != len(self.tasks):
            raise ValueError(f"dataset.tasks names a task twice: {list(self.tasks)}")
        if "classifier" in self.tasks and self.label_column is None:
            raise ValueError(
                "dataset.tasks holds classifier but dataset.label_column is null; name the label column, "
                "or set dataset.tasks to [language_model]"
            )
        if self.split_column is not None and (self.train or self.valid or self.test):
            raise ValueError(
                "dataset.split_column and dataset.train/valid/test both give the splits; keep one of the two"
            )
        if self.train is None and (self.valid or self.test):
            raise ValueError("dataset.valid or dataset.test is given without dataset.train; name all the files")
        if self.valid_fraction + self.test_fraction >= 1.0:
            raise ValueError("dataset.valid_fraction + dataset.test_fraction leave nothing to train on")
        return self


class PrepareConfig(Section):
    """Cleaning: what is changed in a text, how much may be rejected, and how much of a split may stand in train."""

    unicode_form: Literal["none", "NFC", "NFD", "NFKC", "NFKD"] = "NFC"
    lowercase: bool = False
    whitespace: Literal["collapse", "keep"] = "collapse"
    repeats: Literal["remove", "keep"] = "remove"
    max_rejected_fraction: Fraction = 0.05
    max_leaked_fraction: WholeFraction = 0.025


class TokenizerConfig(Section):
    """The SentencePiece model; `keep` names the folder of a trained one that is taken as it is."""

    model: Literal["unigram", "bpe", "word", "char"] = "unigram"
    vocab_size: Annotated[int, Field(ge=8, le=1_000_000)] = 8000
    character_coverage: Annotated[float, Field(gt=0.9, le=1.0)] = 1.0
    byte_fallback: bool = False
    normalization: Literal["identity", "nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"] = "identity"
    max_training_megabytes: PositiveInt = 50
    seed: Annotated[int, Field(ge=0)] = 1
    keep: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.byte_fallback and self.model in ("word", "char"):
            raise ValueError(f"tokenizer.byte_fallback works with unigram and bpe, not with {self.model}")
        if self.byte_fallback and self.vocab_size < 300:
            raise ValueError(
                "tokenizer.byte_fallback needs 256 pieces of its own; set tokenizer.vocab_size to 300 or more"
            )
        return self
