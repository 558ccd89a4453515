"""The test set that every challenger and champion is scored on: that of the first input, which is never made anew."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from elman.artifacts import read_batches, read_json, read_table, replacing, sha256_file, write_json
from elman.data.duplicates import text_digest
from elman.errors import ArtifactError, LeakageError

_TABLE, _RECORD = "test.parquet", "frozen.json"


@dataclass(frozen=True, kw_only=True)
class Frozen:
    """The frozen test set.

    Attributes:
        path: A prepared table with id, text and label.
        sha256: Of the file.
        snapshot: Hash of the input that it came from.
        documents: How many.
    """

    path: Path
    sha256: str
    snapshot: str
    documents: int


def freeze(test: Path, folder: Path, *, snapshot: str) -> Frozen:
    """Copies a prepared test split; where one is frozen already, that one stays.

    Args:
        test: The test split of an accepted input.
        folder: Where it is kept.
        snapshot: Hash of the input.
    """
    if (folder / _RECORD).exists():
        return open_frozen(folder)
    table = read_table(test, columns=["id", "text", "label"])
    with replacing(folder / _TABLE) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    digest = sha256_file(folder / _TABLE)
    write_json(
        folder / _RECORD, {"version": 1, "sha256": digest, "snapshot": snapshot, "documents": table.num_rows}
    )  # last: what it does not name is not frozen yet
    return open_frozen(folder)


def open_frozen(folder: Path) -> Frozen:
    """The frozen test set, checked against its hash.

    Raises:
        ArtifactError: It is missing, or another one than was frozen.
    """
    record = read_json(folder / _RECORD)
    path = folder / _TABLE
    if not path.is_file() or sha256_file(path) != record["sha256"]:
        raise ArtifactError(
            f"{path}: not the test set that was frozen (sha256 {record['sha256']}); bring it back from a backup. To "
            f"begin with a new one, move {folder} away: scores before and after are then of different documents"
        )
    return Frozen(path=path, sha256=record["sha256"], snapshot=record["snapshot"], documents=record["documents"])


def check_leaks(frozen: Frozen, prepared: Path, *, allowed: float) -> None:
    """Refuses data whose train or valid split holds documents of the frozen test set.

    Args:
        frozen: The frozen test set.
        prepared: Folder of the new splits.
        allowed: Share of the frozen documents that may; 0 where the prepare stage removes repeats.

    Raises:
        LeakageError: More than that; the first ones are named.
    """
    known = {text_digest(text) for text in read_table(frozen.path, columns=["text"])["text"].to_pylist()}
    for split in ("train", "valid"):
        found: set[int] = set()
        first = []
        for batch in read_batches(prepared / f"{split}.parquet", columns=["text", "source", "source_row"]):
            for row in batch.to_pylist():
                digest = text_digest(row["text"])
                if digest in known:
                    found.add(digest)
                    first.append(f"{row['source']} row {row['source_row']}")
        if len(found) > allowed * frozen.documents:
            more = ", ..." if len(first) > 3 else ""
            raise LeakageError(
                f"{len(found):,} of {frozen.documents:,} documents of the frozen test set stand in {split} "
                f"({', '.join(first[:3])}{more}), where a model would learn them. The way to split has changed: bring "
                f"back the old dataset.valid_fraction, test_fraction or split names, or move {frozen.path.parent} away "
                "to begin with a new test set"
            )
