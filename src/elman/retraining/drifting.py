"""Drift of new text against the champion's, both read by the champion's tokenizer."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from elman.artifacts import read_batches, read_table
from elman.data.duplicates import text_digest
from elman.data.encoding import encode_texts
from elman.data.splits import SPLITS
from elman.data.tokenizer import Tokenizer
from elman.retraining.drift import DriftReport, drift_report
from elman.retraining.drift_sample import MAX_DOCUMENTS, DriftSample, drift_sample, kneser_ney_surprise
from elman.retraining.night import Night
from elman.retraining.scoring import Scoring
from elman.seeding import generator
from elman.tracking.registry import CHAMPION, Registry

_COLUMNS = ["text", "label"]


def measure_drift(night: Night, prepared: Path, reference: Path, registry: Registry) -> DriftReport | None:
    """Measures what is new in `prepared`; None where nothing is.

    A language model's own surprise is measured; beside a classifier a Kneser-Ney model stands in for it.

    Args:
        night: The run.
        prepared: Folder of the new splits.
        reference: Folder of the champion's splits.
        registry: Where the champion is.
    """
    folder = night.scratch / "drift"
    folder.mkdir(parents=True, exist_ok=True)
    new = _new_documents(prepared, reference)
    if new.num_rows == 0:
        return None
    held_out = pa.concat_tables([read_table(reference / f"{split}.parquet", columns=_COLUMNS) for split in SPLITS[1:]])
    tables = {"reference": _some(held_out), "new": _some(new)}
    package = registry.fetch(CHAMPION, folder)
    tokenizer = Tokenizer.load(package / "tokenizer")
    if night.task == "language_model":
        nats = _own_surprise(night, tables, package, folder)
    else:
        nats = _kneser_ney(tables, reference, tokenizer)
    samples = {name: _sample(table, nats[name], tokenizer) for name, table in tables.items()}
    return drift_report(samples["reference"], samples["new"], night.config)


def coverage(tokenizer: Tokenizer, prepared: Path, reference: Path | None) -> float:
    """Share of the new text's tokens that the tokenizer has a piece for: neither unk nor a single byte.

    Args:
        tokenizer: The champion's.
        prepared: Folder of the new splits.
        reference: Folder of the champion's splits; None, or a folder without them, makes all text new.
    """
    if reference is not None and (reference / "train.parquet").is_file():
        table = _new_documents(prepared, reference)
    else:
        table = read_table(prepared / "train.parquet", columns=_COLUMNS)
    if table.num_rows == 0:
        return 1.0
    texts = _some(table)["text"].to_pylist()
    sample = drift_sample(encode_texts(texts, tokenizer=tokenizer), tokenizer=tokenizer)
    unknown = int(sample.unk_tokens.sum()) + (0 if sample.byte_tokens is None else int(sample.byte_tokens.sum()))
    return 1.0 - unknown / int(sample.num_tokens.sum())


def _new_documents(prepared: Path, reference: Path) -> pa.Table:
    known = np.sort(np.concatenate([_digests(reference / f"{split}.parquet") for split in SPLITS]))
    parts = []
    for split in SPLITS:
        table = read_table(prepared / f"{split}.parquet", columns=_COLUMNS)
        digests = _digests(prepared / f"{split}.parquet")
        parts.append(table.filter(pa.array(~np.isin(digests, known))))
    return pa.concat_tables(parts)


def _digests(path: Path) -> npt.NDArray[np.uint64]:
    found = [
        text_digest(text) for batch in read_batches(path, columns=["text"]) for text in batch.column(0).to_pylist()
    ]
    return np.array(found, np.uint64)


def _some(table: pa.Table) -> pa.Table:
    """At most `MAX_DOCUMENTS` rows, drawn at random and the same each time."""
    if table.num_rows <= MAX_DOCUMENTS:
        return table
    chosen = generator(1, "drift", table.num_rows).choice(table.num_rows, MAX_DOCUMENTS, replace=False)
    return table.take(pa.array(np.sort(chosen)))


def _own_surprise(
    night: Night, tables: dict[str, pa.Table], package: Path, folder: Path
) -> dict[str, npt.NDArray[np.float64]]:
    scorings = []
    for name, table in tables.items():
        documents = folder / f"{name}.parquet"
        pq.write_table(table.append_column("id", pa.array(np.arange(table.num_rows))), documents)
        scorings.append(
            Scoring(package=str(package), documents=str(documents), out=str(folder / f"{name}.scores.parquet"))
        )
    night.tools.score(folder, scorings, step="surprise")
    return {
        name: read_table(Path(scoring.out), columns=["nll_nats"])["nll_nats"].to_numpy()
        for name, scoring in zip(tables, scorings, strict=True)
    }


def _kneser_ney(
    tables: dict[str, pa.Table], reference: Path, tokenizer: Tokenizer
) -> dict[str, npt.NDArray[np.float64]]:
    train = read_table(reference / "train.parquet", columns=["text"])["text"].to_pylist()
    learned = encode_texts(train, tokenizer=tokenizer)
    return {
        name: kneser_ney_surprise(
            learned, encode_texts(table["text"].to_pylist(), tokenizer=tokenizer), vocab_size=tokenizer.vocab_size
        )
        for name, table in tables.items()
    }


def _sample(table: pa.Table, nats: npt.NDArray[np.float64], tokenizer: Tokenizer) -> DriftSample:
    labels = table["label"].to_pylist()
    return drift_sample(
        encode_texts(table["text"].to_pylist(), tokenizer=tokenizer),
        tokenizer=tokenizer,
        nll_nats=nats,
        labels=None if None in labels else labels,
    )
