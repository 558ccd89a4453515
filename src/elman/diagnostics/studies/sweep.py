"""One training for each cell and seed, and what is said of the seeds together."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from elman.diagnostics.studies.cells import VARIANTS, check_cells
from elman.diagnostics.studies.recorder import Recorder, SeedRun
from elman.errors import ConfigError

VERSION = 1

# (cell, seed, run) -> the seed's values: "parameters", "measures" (a number each) and what else a figure needs
TrainSeed = Callable[[str, int, SeedRun], dict[str, Any]]


def spread(values: Sequence[float], *, mean: float | None = None) -> dict[str, Any]:
    """Mean, minimum and maximum over seeds, and the values; `mean` is for another one than the arithmetic.

    Example:
        >>> spread([1.0, 3.0])
        {'mean': 2.0, 'min': 1.0, 'max': 3.0, 'per_seed': [1.0, 3.0]}
    """
    numbers = [float(value) for value in values]
    middle = sum(numbers) / len(numbers) if mean is None else mean
    return {"mean": middle, "min": min(numbers), "max": max(numbers), "per_seed": numbers}


def sweep(
    study: str,
    train_seed: TrainSeed,
    *,
    cells: Sequence[str],
    seeds: Sequence[int],
    settings: Mapping[str, Any],
    recorder: Recorder,
    report: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Trains every cell with every seed, records each, and gathers a row a cell.

    Args:
        study: The name that the runs carry as their task.
        train_seed: Trains one.
        cells: Names of `VARIANTS`.
        seeds: At least one.
        settings: Recorded as parameters.
        recorder: Opens a run a cell and one a seed.
        report: Takes a line of progress.

    Returns:
        For each cell `name`, `title`, `parameters`, `seconds` (a seed, mean), `measures` (see `spread`) and `seeds`,
        what `train_seed` gave.

    Raises:
        ConfigError: A cell is unknown, or there is no seed.
    """
    check_cells(cells)
    if not seeds:
        raise ConfigError("a study needs at least one seed; got none")
    rows = []
    for cell in cells:
        with recorder.parent_run(task=study, cell=cell, seeds=list(seeds), params=settings) as parent:
            found = []
            for seed in seeds:
                start = time.perf_counter()
                with parent.child_run(seed=seed, params=settings) as run:
                    values = train_seed(cell, seed, run)
                    run.log_metrics({f"test/{name}": value for name, value in values["measures"].items()})
                found.append({"seed": seed, "seconds": round(time.perf_counter() - start, 1), **values})
                shown = "  ".join(f"{name} {value:.4f}" for name, value in values["measures"].items())
                report(f"{study}  {cell} seed {seed}  {shown}  {found[-1]['seconds']:.1f} s")
            row = _row(cell, found)
            for name, values in row["measures"].items():
                ends = {f"test/{name}_{end}": values[end] for end in ("min", "max")}
                parent.log_metrics({f"test/{name}": values["mean"], **ends})
        rows.append(row)
    return rows


def _row(cell: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    names = found[0]["measures"]
    return {
        "name": cell,
        "title": VARIANTS[cell].title,
        "parameters": found[0].pop("parameters"),
        "seconds": round(sum(seed["seconds"] for seed in found) / len(found), 1),
        "measures": {name: spread([seed["measures"][name] for seed in found]) for name in names},
        "seeds": [
            {key: value for key, value in seed.items() if key not in ("parameters", "measures")} for seed in found
        ],
    }
