import numpy as np
import pytest

from elman.data.label_share import labelled_share
from elman.data.sequences import EncodedDocuments
from tests.helpers.encoded_documents import make_documents


def documents() -> EncodedDocuments:
    """60 documents of 1 to 9 tokens; classes of 40, 17 and 3."""
    random = np.random.default_rng(6)
    found = make_documents(random.integers(1, 10, 60).tolist())
    labels = random.permutation(np.repeat([0, 1, 2], [40, 17, 3])).astype(np.int32)
    return EncodedDocuments(found.token_ids, found.offsets, found.ids, labels, found.num_words, found.num_bytes)


@pytest.mark.parametrize(("fraction", "counts"), [(0.1, [4, 2, 1]), (0.5, [20, 9, 2]), (0.01, [1, 1, 1])])
def test_each_class_keeps_the_same_share_and_at_least_one_document(fraction: float, counts: list[int]) -> None:
    share = labelled_share(documents(), fraction=fraction, seed=3)
    assert np.bincount(share.labels).tolist() == counts


def test_kept_documents_are_whole_and_in_their_order() -> None:
    whole = documents()
    share = labelled_share(whole, fraction=0.3, seed=3)
    assert (np.diff(share.ids) > 0).all()
    for place, number in enumerate(share.ids):
        row = int(np.flatnonzero(whole.ids == number)[0])
        ours = share.token_ids[share.offsets[place] : share.offsets[place + 1]]
        np.testing.assert_array_equal(ours, whole.token_ids[whole.offsets[row] : whole.offsets[row + 1]])
        for name in ("labels", "num_words", "num_bytes"):
            assert getattr(share, name)[place] == getattr(whole, name)[row]


def test_the_rows_follow_from_the_seed_and_a_smaller_share_lies_in_a_larger_one() -> None:
    small, again, other, large = (
        set(labelled_share(documents(), fraction=fraction, seed=seed).ids.tolist())
        for fraction, seed in ((0.1, 3), (0.1, 3), (0.1, 4), (0.4, 3))
    )
    assert small == again
    assert small != other
    assert small < large


def test_the_whole_is_left_alone() -> None:
    whole = documents()
    assert labelled_share(whole, fraction=1.0, seed=3) is whole
