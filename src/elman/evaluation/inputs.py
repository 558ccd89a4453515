"""What the evaluate stage reads, and where it writes."""

from pathlib import Path
from typing import NamedTuple


class Inputs(NamedTuple):
    """Files of earlier stages, and the folder of one task and cell.

    Attributes:
        models: models/<task>/<cell>.
        encoded: Folder with train.parquet, valid.parquet and test.parquet.
        prepared: Folder with test.parquet and labels.json.
        baselines: The baseline stage's folder, reports/<task>/baselines.
        out: The stage's output, reports/<task>/cells/<cell>.
    """

    models: Path
    encoded: Path
    prepared: Path
    baselines: Path
    out: Path
