"""What the Kneser-Ney baseline thinks of every token, read from the file that its stage wrote."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from elman.artifacts import read_table
from elman.data.sequences import EncodedDocuments
from elman.errors import ArtifactError
from elman.metrics.score_columns import LANGUAGE_MODEL_TOKENS


def read_kneser_ney_tokens(path: Path, splits: Mapping[str, EncodedDocuments]) -> dict[str, npt.NDArray[np.float64]]:
    """The log probability of each token of each split, held against the tokens that the network reads.

    Args:
        path: The baseline's tokens.parquet.
        splits: Encoded documents by the name of their split.

    Returns:
        float64 (tokens,) by split, in nats.

    Raises:
        ArtifactError: The file is missing, damaged, or about other tokens: of another tokenizer or another text.
    """
    if not path.is_file():
        raise ArtifactError(f"{path}: no such file, and networks are mixed with it; run `dvc repro baseline`")
    table = read_table(path, columns=LANGUAGE_MODEL_TOKENS.names)
    found = {}
    for name, documents in splits.items():
        own = table.filter(pc.equal(table["split"].cast("string"), name))
        ids = own["token_id"].to_numpy()
        if len(ids) != documents.num_tokens:
            differ = f"has {len(ids):,} tokens of {name}, the encoded text {documents.num_tokens:,}"
        elif len(places := np.flatnonzero(ids != documents.token_ids)):
            place = int(places[0])
            differ = f"token {place} of {name} is {ids[place]}, in the encoded text {documents.token_ids[place]}"
        else:
            found[name] = own["log_probability"].to_numpy()
            continue
        raise ArtifactError(f"{path}: {differ}: it is of another tokenizer or text; run `dvc repro baseline`")
    return found
