import pytest

from elman.data.catalog import KnownText
from elman.data.verification import verify_counts, verify_files
from elman.errors import DataError

TRAIN_MD5 = "d93a8e472924b95f416914d2fe376747"  # printf 'one two\n' | md5sum
TEST_MD5 = "c193497a1a06b2c72230e6146ff47080"  # printf 'two\n' | md5sum
KNOWN = KnownText(
    name="tiny",
    files={"t.train.txt": TRAIN_MD5, "t.test.txt": TEST_MD5},
    tokens={"train": 3, "test": 2},
    types=3,
    unigram_perplexity={},
    origin="this test",
    terms="none",
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.train.txt").write_bytes(b"one two\n")
    (tmp_path / "t.test.txt").write_bytes(b"two\n")
    return tmp_path


def test_the_files_of_a_known_text_pass(folder):
    verify_files(folder, KNOWN)


def test_another_file_is_named_with_the_sum_that_is_expected_and_the_one_that_came(folder):
    (folder / "t.test.txt").write_bytes(b"two\r\n")  # printf 'two\r\n' | md5sum
    with pytest.raises(DataError) as caught:
        verify_files(folder, KNOWN)
    assert f"t.test.txt: MD5 11fb069f7f29124c833020fb42120d64, expected {TEST_MD5}" in str(caught.value)
    assert "t.train.txt" not in str(caught.value)


def test_a_missing_file_is_named_with_what_the_folder_holds(folder):
    (folder / "t.train.txt").rename(folder / "train.txt")
    with pytest.raises(DataError) as caught:
        verify_files(folder, KNOWN)
    assert f"t.train.txt: missing, expected MD5 {TRAIN_MD5}" in str(caught.value)
    assert "'train.txt'" in str(caught.value)


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        verify_files(tmp_path / "nowhere", KNOWN)


def summary(*, train: int = 3, test: int = 2, vocab_size: int = 5) -> dict:
    return {"vocab_size": vocab_size, "train": {"tokens": train}, "test": {"tokens": test}}


def test_the_known_counts_pass():
    verify_counts(summary(), KNOWN)


@pytest.mark.parametrize(
    ("counts", "part"),
    [
        ({"train": 2}, "tokens of train: 2, expected 3"),
        ({"test": 1}, "tokens of test: 1, expected 2"),
        ({"vocab_size": 4}, "vocabulary (types, pad and bos): 4, expected 5"),
    ],
)
def test_another_count_is_named_with_the_settings_that_give_the_known_one(counts, part):
    with pytest.raises(DataError) as caught:
        verify_counts(summary(**counts), KNOWN)
    assert part in str(caught.value)
    assert "tokenizer.vocab_size: 5" in str(caught.value)
