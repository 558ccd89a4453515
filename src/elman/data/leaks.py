"""Documents of valid and test that stand in train too: counted, listed with their rows, and refused if too many.

A score on a document that the model has learned from says little about documents that it has not seen.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elman.artifacts import TableWriter
from elman.data.duplicates import Digests
from elman.data.near_duplicates import NearDuplicates, find_near_duplicates
from elman.data.sketches import Indices
from elman.data.splits import SPLITS
from elman.data.tables import LEAKS_SCHEMA, rows_at
from elman.errors import LeakageError

MAX_LISTED = 10_000  # pairs of a split and kind that are listed; all are counted
_SHOWN = 5  # pairs of a kind that the error names
_FIRST_WORDS = 8
_EVALUATED = SPLITS[1:]


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """How much of an evaluation split stands in train.

    Attributes:
        documents: Documents of the split as the data has them, before any is taken out as a repeat.
        exact: How many of them stand in train with the same words, before train loses them.
        checked: Documents that were looked up for near duplicates.
        near: How many of these stand nearly, and not exactly, in train as it is learned from.
        share: Share of documents that stand in train in the one way or the other.
    """

    documents: int
    exact: int
    checked: int
    near: int
    share: float


class Leaks:
    """Finds them in two steps: exact ones before repeats are taken out of train, near ones in what is left.

    Args:
        folder: Holds the tables of the three splits.
        digests: Of the documents in these tables; both steps read it as it is then.

    Attributes:
        overlaps: What was counted, by split; whole after both steps.
    """

    def __init__(self, folder: Path, digests: Digests) -> None:
        self._folder = folder
        self._digests = digests
        self._documents = {split: len(digests.of(split)) for split in _EVALUATED}
        self._exact: dict[str, list[dict[str, Any]]] = {}
        self._near: dict[str, list[dict[str, Any]]] = {}
        self.overlaps: dict[str, Overlap] = {}
        rows = {split: np.flatnonzero(digests.standing_in(split, ("train",))) for split in _EVALUATED}
        self._exact_digests = {split: digests.of(split)[rows[split]] for split in _EVALUATED}
        for split, values in self._exact_digests.items():
            self._exact[split] = self._listed(split, rows[split], digests.first_rows("train", values))

    def find_near(self) -> None:
        """The second step, on the tables as they will be used."""
        tables = {split: self._folder / f"{split}.parquet" for split in SPLITS}
        for split, found in find_near_duplicates(tables.pop("train"), tables).items():
            values = self._digests.of(split)[found.rows]
            inexact = self._digests.first_rows("train", values) < 0
            only_near = int(np.count_nonzero(inexact & ~np.isin(values, self._exact_digests[split])))
            self.overlaps[split] = self._overlap(split, found, near=int(inexact.sum()), only_near=only_near)
            rows, train_rows = found.rows[inexact], found.train_rows[inexact]
            self._near[split] = self._listed(split, rows, train_rows, found.similarities[inexact].tolist())

    def _overlap(self, split: str, found: NearDuplicates, *, near: int, only_near: int) -> Overlap:
        documents, exact = self._documents[split], len(self._exact_digests[split])
        share = exact / max(documents, 1) + only_near / max(found.checked, 1)
        return Overlap(documents=documents, exact=exact, checked=found.checked, near=near, share=share)

    def _listed(
        self, split: str, rows: Indices, train_rows: Indices, similarities: list[float] | None = None
    ) -> list[dict[str, Any]]:
        """The first pairs as rows of leaks.parquet; exact ones have no similarities."""
        pairs = list(zip(rows[:MAX_LISTED].tolist(), train_rows[:MAX_LISTED].tolist(), strict=True))
        places = ["source", "source_row"]
        tested = rows_at(self._folder / f"{split}.parquet", [row for row, _ in pairs], columns=[*places, "text"])
        learned = rows_at(self._folder / "train.parquet", [row for _, row in pairs], columns=places)
        return [
            {
                "split": split,
                "source": tested[row]["source"],
                "source_row": tested[row]["source_row"],
                "kind": "exact" if similarities is None else "near",
                "similarity": 1.0 if similarities is None else similarities[number],
                "train_source": learned[train_row]["source"],
                "train_source_row": learned[train_row]["source_row"],
                "first_words": _first_words(tested[row]["text"]),
            }
            for number, (row, train_row) in enumerate(pairs)
        ]

    def write(self, path: Path) -> None:
        """Writes the pairs as a table, of each split and kind the first 10,000."""
        rows = [row for split in self.overlaps for row in (*self._exact[split], *self._near[split])]
        with TableWriter(path, LEAKS_SCHEMA) as writer:
            writer.write({name: [row[name] for row in rows] for name in LEAKS_SCHEMA.names})

    def summary(self) -> dict[str, dict[str, Any]]:
        """The counts for summary.json, by split."""
        names = ("exact", "near", "checked", "share")
        return {split: {name: getattr(overlap, name) for name in names} for split, overlap in self.overlaps.items()}

    def check(self, *, limit: float, path: Path) -> None:
        """Refuses splits of which more than `limit` stands in train; the list is then all that is written.

        Args:
            limit: Share of the documents of valid, and of test.
            path: Where the list of pairs goes, so that the rows can be mended.

        Raises:
            LeakageError: With rows, counts, setting and what to do.
        """
        beyond = [split for split, overlap in self.overlaps.items() if overlap.share > limit]
        if not beyond:
            return
        self.write(path)
        raise LeakageError(
            "\n".join(line for split in beyond for line in self._explained(split))
            + f"\nprepare.max_leaked_fraction = {limit} allows less. All pairs stand in {path}. Take the copies out of "
            "the data; or, if they belong there, raise the limit in params.yaml: the report says how many there are"
        )

    def _explained(self, split: str) -> list[str]:
        overlap = self.overlaps[split]
        pairs = [*self._exact[split][:_SHOWN], *self._near[split][:_SHOWN]]
        return [
            f"{100 * overlap.share:.1f} % of the {overlap.documents:,} documents of {split} stand in train too: "
            f"{overlap.exact:,} exactly, {overlap.near:,} nearly. The first:",
            *(
                f"  {pair['source']} row {pair['source_row']} and {pair['train_source']} row "
                f"{pair['train_source_row']} ({_kind(pair)}): {pair['first_words']!r}"
                for pair in pairs
            ),
        ]


def _kind(pair: dict[str, Any]) -> str:
    return "exact" if pair["kind"] == "exact" else f"near, similarity {pair['similarity']:.2f}"


def _first_words(text: str) -> str:
    """The first words of a document, and at most 80 characters."""
    return " ".join(text[:200].split()[:_FIRST_WORDS])[:80]
