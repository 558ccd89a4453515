"""Sentences in which a verb agrees in number with a subject that stands some nouns away."""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Attractors = Literal["random", "opposite"]

NOUNS = (
    ("key", "keys"), ("cabinet", "cabinets"), ("author", "authors"), ("guard", "guards"), ("farmer", "farmers"),
    ("car", "cars"), ("table", "tables"), ("door", "doors"), ("letter", "letters"), ("pilot", "pilots"),
    ("horse", "horses"), ("garden", "gardens"), ("doctor", "doctors"), ("river", "rivers"), ("teacher", "teachers"),
    ("picture", "pictures"), ("lamp", "lamps"), ("bridge", "bridges"), ("singer", "singers"), ("boat", "boats"),
)  # fmt: skip
VERBS = (
    ("is", "are"), ("was", "were"), ("has", "have"), ("moves", "move"), ("falls", "fall"), ("shines", "shine"),
    ("waits", "wait"), ("changes", "change"), ("returns", "return"), ("stays", "stay"),
)  # fmt: skip
PREPOSITIONS = ("near", "behind", "beside", "of", "with", "above", "by", "under")

START, THE = 0, 1
_NOUN = 2  # 2 ids a noun: singular, plural
_VERB = _NOUN + 2 * len(NOUNS)
_PREPOSITION = _VERB + 2 * len(VERBS)
WORDS = (
    "<s>", "the", *(form for noun in NOUNS for form in noun), *(form for verb in VERBS for form in verb), *PREPOSITIONS
)  # fmt: skip
SINGULAR_VERBS = np.arange(_VERB, _PREPOSITION, 2)
PLURAL_VERBS = SINGULAR_VERBS + 1


class Sentences(NamedTuple):
    """Sentences of one shape: "<s> the SUBJECT", k times "PREPOSITION the ATTRACTOR", VERB.

    Attributes:
        token_ids: int32 (B, 4 + 3 k). The verb stands last.
        plural: int64 (B, 1 + k). 1 where a noun is plural; the subject first, then the attractors from left to right.
    """

    token_ids: npt.NDArray[np.int32]
    plural: npt.NDArray[np.int64]


def agreement_sentences(
    generator: np.random.Generator, *, count: int, attractors: int, numbers: Attractors = "random"
) -> Sentences:
    """Draws sentences; all words and the subject's number are uniform.

    Args:
        generator: Where the words come from.
        count: B.
        attractors: k, nouns between subject and verb.
        numbers: "random" draws each attractor's number by itself, "opposite" gives all the one that is not the
            subject's.

    Example:
        >>> one = agreement_sentences(np.random.default_rng(1), count=1, attractors=2, numbers="opposite")
        >>> sentence_text(one.token_ids[0])
        'the boat by the keys under the authors has'
    """
    plural = generator.integers(0, 2, (count, 1 + attractors))  # (B, 1 + k)
    if numbers == "opposite":
        plural[:, 1:] = 1 - plural[:, :1]
    nouns = _NOUN + 2 * generator.integers(0, len(NOUNS), plural.shape) + plural
    prepositions = _PREPOSITION + generator.integers(0, len(PREPOSITIONS), (count, attractors))
    token_ids = np.full((count, 4 + 3 * attractors), THE, np.int32)
    token_ids[:, 0] = START
    token_ids[:, 2:-1:3] = nouns
    token_ids[:, 3:-1:3] = prepositions
    token_ids[:, -1] = _VERB + 2 * generator.integers(0, len(VERBS), count) + plural[:, 0]
    return Sentences(token_ids, plural)


def sentence_text(token_ids: npt.NDArray[np.int32]) -> str:
    """The words of one sentence, without the start sign."""
    return " ".join(WORDS[number] for number in token_ids[1:])


def last_noun_accuracy(plural: npt.NDArray[np.int64]) -> float:
    """The share of verbs that agree with the noun before them.

    Args:
        plural: int64 (B, 1 + k). As in `Sentences`.
    """
    return float((plural[:, -1] == plural[:, 0]).mean())


def majority_accuracy(plural: npt.NDArray[np.int64]) -> float:
    """The share of verbs that agree with most of the nouns, the subject among them; a tie counts as half.

    Args:
        plural: int64 (B, 1 + k). As in `Sentences`.
    """
    lead = 2 * plural.sum(axis=1) - plural.shape[1]  # above 0 where most are plural
    right = np.where(lead == 0, 0.5, (lead > 0) == (plural[:, 0] == 1))
    return float(right.mean())
