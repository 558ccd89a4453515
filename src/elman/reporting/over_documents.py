"""What other test documents would change: intervals of every measure, and paired tests of every pair."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elman.errors import MetricError
from elman.metrics.paired_bootstrap import RESAMPLES, bootstrapped
from elman.reporting.comparing.measuring import MEASURES, measure_systems
from elman.reporting.comparing.pairs import compare_systems
from elman.reporting.comparing.system import System, read_system
from elman.reporting.measures import DRAWN
from elman.reporting.rows import baselines, strongest, trained

SEED = 1  # of the draws of documents

Ends = dict[str, float | None]


def read_rows(folder: Path, rows: Sequence[Mapping[str, Any]]) -> list[System]:
    """The per-document scores of all rows that have them; only a baseline may lack them.

    Args:
        folder: reports/<task>.
        rows: Rows of the comparison.

    Raises:
        ArtifactError: Scores are missing or were half written.
    """
    systems = []
    for row in rows:
        place = _scores_folder(folder, row)
        if row["kind"] != "baseline" or place.is_dir():
            systems.append(read_system(place, name=row["name"]))
    return systems


def _scores_folder(folder: Path, row: Mapping[str, Any]) -> Path:
    if row["kind"] == "mixture":
        return folder / "cells" / str(row["cell"]) / "mixture"
    return folder / ("cells" if row["kind"] == "cell" else "baselines") / str(row["name"])


def document_intervals(systems: Sequence[System]) -> dict[str, dict[str, Ends]]:
    """The 95 % bootstrap interval over documents of each system (first key) and measure (second key).

    All systems are tested on the same draws of documents. The ends are None where one document says nothing about the
    spread, or where the measure is no number on some draw (a perplexity that overflows).
    """
    found: dict[str, dict[str, Ends]] = {system.name: {} for system in systems}
    for system in systems:
        for measure in MEASURES[system.task]:
            try:
                one = measure_systems([system], measure, resamples=RESAMPLES, seed=SEED)[0]
                ends = bootstrapped(one.value, one.resampled, documents=len(one.per_document))
                found[system.name][measure] = {"low": ends.low, "high": ends.high}
            except MetricError:
                found[system.name][measure] = {"low": None, "high": None}
    return found


def tested_pairs(rows: Sequence[Mapping[str, Any]], systems: Sequence[System]) -> list[dict[str, Any]]:
    """Paired tests of all cells with each other and with the strongest baseline, corrected together.

    They go by the measure of the verdict, as `elman compare` does.

    Args:
        rows: Rows of the comparison.
        systems: Their scores.
    """
    if not systems:
        return []
    measure = DRAWN[systems[0].task][0]
    bar = strongest(baselines({"rows": rows}), measure)
    names = [row["name"] for row in trained({"rows": rows})] + ([bar["name"]] if bar else [])
    chosen = [system for system in systems if system.name in names]
    if len(chosen) < 2:
        return []
    result = compare_systems(chosen, measure=measure.key, resamples=RESAMPLES, seed=SEED)
    return list(result["pairs"])
