"""What the gate says of two seeds of one training, on scores that the pipeline wrote: benchmarks/retraining_seeds.json.

    python -m benchmarks.retraining_seeds reports/*/cells/*/scores.parquet

Each ordered pair of seeds of a cell is a champion and a challenger that learned from the same data.
"""

import argparse
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.retraining_trials import configured
from elman.artifacts import read_table, write_json
from elman.retraining.comparison import value_of
from elman.retraining.gate import DocumentScores, decide

OUT = Path(__file__).with_suffix(".json")
# Whether the data is taken for new, and whether the spread over these seeds is handed to the gate.
ASKED = {
    "superior": (True, False),
    "non_inferior": (True, False),
    "same_data": (False, False),
    "same_data_spread_known": (False, True),
}


def read_seeds(path: Path) -> list[DocumentScores]:
    """The scores of each seed of one cell."""
    table = read_table(path)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    names = ("labels", "predicted") if "label" in columns else ("nll_nats", "num_bytes")
    stored = {"labels": "label"}
    return [
        DocumentScores(ids=columns["id"][chosen], **{name: columns[stored.get(name, name)][chosen] for name in names})
        for chosen in (columns["seed"] == seed for seed in np.unique(columns["seed"]))
    ]


def pairs(seeds: list[DocumentScores]) -> dict[str, Any]:
    """How many of the ordered pairs each rule promotes, and how many the floors of the classes block."""
    values = [value_of(scores) for scores in seeds]
    promoted = dict.fromkeys(ASKED, 0)
    blocked = 0
    names: list[str] = []
    if seeds[0].is_classifier:
        names = [str(number) for number in range(1 + max(int(max(s.labels.max(), s.predicted.max())) for s in seeds))]
    for champion, challenger in itertools.permutations(seeds, 2):
        for rule, (new_data, known) in ASKED.items():
            config = configured(rule if new_data else "superior")
            spread = float(np.std(values, ddof=1)) if known else None
            result = decide(challenger, champion, config, class_names=names, new_data=new_data, seed_spread=spread)
            promoted[rule] += result.promote
        blocked += any(row.problem for row in result.per_class)
    return {
        "documents": len(seeds[0].ids),
        "values": values,
        "standard_deviation": float(np.std(values, ddof=1)),
        "pairs": len(seeds) * (len(seeds) - 1),
        "promoted": promoted,
        "blocked_by_a_class": blocked,
    }


def main() -> None:
    """Reads the files and records what the gate says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    rows = []
    for path in options.scores:
        task, cell = path.resolve().parts[-4], path.resolve().parts[-2]
        rows.append({"task": task, "cell": cell, **pairs(read_seeds(path))})
    write_json(options.out, {"version": 1, "rows": rows})


if __name__ == "__main__":
    main()
