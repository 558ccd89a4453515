"""Splits by the hash of a document's text: it keeps its side when data is added, moved or repeated."""

from dataclasses import dataclass

SPLITS = ("train", "valid", "test")
_RANGE = 1 << 64


@dataclass(frozen=True, kw_only=True)
class SplitRule:
    """Where a document goes that the data itself gives to train, or to no split.

    Attributes:
        valid_fraction: Share of documents that go to valid; 0 where the data has a valid split of its own.
        test_fraction: Share of documents that go to test; 0 where the data has a test split of its own.
    """

    valid_fraction: float
    test_fraction: float

    def side(self, own: str | None, digest: int) -> str:
        """The split of a document.

        Args:
            own: The split that the data gives; valid and test stand, train may lend documents.
            digest: 64-bit hash of the folded text, from `elman.data.duplicates.text_digest`.

        Example:
            >>> SplitRule(valid_fraction=0.25, test_fraction=0.25).side(None, 2**62 + 1)
            'valid'
        """
        if own in ("valid", "test"):
            return own
        share = digest / _RANGE
        if share < self.test_fraction:
            return "test"
        return "valid" if share < self.test_fraction + self.valid_fraction else "train"


def split_rule(own_splits: frozenset[str], *, valid_fraction: float, test_fraction: float) -> SplitRule:
    """The rule for data that brings `own_splits`; what it brings is not taken from its train documents."""
    return SplitRule(
        valid_fraction=0.0 if "valid" in own_splits else valid_fraction,
        test_fraction=0.0 if "test" in own_splits else test_fraction,
    )
