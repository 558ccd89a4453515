"""False alarms and found changes of the drift report, on made-up documents: benchmarks/retraining_drift.json.

    python -m benchmarks.retraining_drift

Some minutes on one core. Ends with 1 where the share of false alarms is outside what chance allows around the one that
was asked for.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.simulated_models import R8_TEST
from elman.artifacts import write_json
from elman.config import RetrainingConfig
from elman.retraining.drift import DriftSample, drift_report

OUT = Path(__file__).with_suffix(".json")
SIZES = ((50, 20), (300, 100), (300, 1_000))  # documents of the reference and of the new sample
RATES = (0.01, 0.05)
CHANGES: dict[str, dict[str, float]] = {
    "none": {},
    "surprise +0.1 bits a byte": {"surprise": 0.1},
    "a document in twenty in another alphabet": {"foreign": 0.05},
    "texts half as long again": {"longer": 1.5},
    "ten points from the largest class to a small one": {"moved": 0.1},
}


def draw_sample(
    random: np.random.Generator,
    documents: int,
    *,
    surprise: float = 0.0,
    foreign: float = 0.0,
    longer: float = 1.0,
    moved: float = 0.0,
) -> DriftSample:
    """Documents of 80 tokens or so, one unknown token in 5,000, labelled as R8 is, with one thing changed or nothing.

    Args:
        random: Source of chance.
        documents: N.
        surprise: Bits a byte more.
        foreign: Share of documents in which a third of the tokens are unknown.
        longer: Factor on the length.
        moved: Share of documents that go from the class earn to grain.
    """
    tokens = 1 + np.maximum(1, longer * random.lognormal(np.log(80.0), 0.7, documents)).astype(np.int64)
    size = np.maximum(tokens, (tokens * random.normal(4.2, 0.4, documents)).astype(np.int64))
    # Short documents surprise more, so that the measures depend on each other.
    bits = 1.3 + surprise + random.normal(0.0, 0.25, documents) + 4.0 / tokens
    unknown = random.poisson(2e-4 * tokens * random.gamma(0.5, 2.0, documents))
    other = random.random(documents) < foreign
    unknown = np.where(other, tokens // 3, np.minimum(unknown, tokens))
    shares = np.array(list(R8_TEST.values())) / sum(R8_TEST.values())
    names = list(R8_TEST)
    shares[names.index("earn")] -= moved
    shares[names.index("grain")] += moved
    return DriftSample(
        num_tokens=tokens,
        num_bytes=size,
        unk_tokens=unknown.astype(np.int64),
        nll_nats=np.maximum(0.05, bits) * size * np.log(2.0),
        labels=tuple(names[place] for place in random.choice(len(names), documents, p=shares)),
    )


def alarms(
    random: np.random.Generator,
    *,
    sizes: tuple[int, int],
    rate: float,
    draws: int,
    resamples: int = 2_000,
    **change: float,
) -> dict[str, float]:
    """Share of draws with an alarm, and with one of each measure; reference and new documents are new in each draw."""
    config = RetrainingConfig(drift_false_alarms=rate)
    counts: dict[str, int] = {"any": 0}
    for draw in range(draws):
        pair = draw_sample(random, sizes[0]), draw_sample(random, sizes[1], **change)
        report = drift_report(*pair, config, seed=draw, resamples=resamples)
        counts["any"] += bool(report.alarms)
        for name, measure in report.measures.items():
            counts[name] = counts.get(name, 0) + measure.alarm
    return {name: count / draws for name, count in counts.items()}


def allowed(rate: float, draws: int) -> tuple[float, float]:
    """Between which shares 99 of 100 series of draws lie, where the chance of each draw is `rate`."""
    low, high = stats.binom.interval(0.99, draws, rate)
    return float(low) / draws, float(high) / draws


def measured(*, draws: int, seed: int = 1) -> dict[str, Any]:
    """All sizes, rates and changes."""
    random = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for name, change in CHANGES.items():
        for sizes in SIZES:
            for rate in RATES if name == "none" else RATES[:1]:
                number = draws if name == "none" else max(1, draws // 8)
                shares = alarms(random, sizes=sizes, rate=rate, draws=number, **change)
                row = {"change": name, "reference": sizes[0], "new": sizes[1], "rate": rate, "draws": number}
                rows.append({**row, "alarms": shares, "allowed": allowed(rate, number) if name == "none" else None})
                print(rows[-1], file=sys.stderr)
    return {"version": 1, "seed": seed, "rows": rows}


def main() -> None:
    """Runs the simulation and records it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    found = measured(draws=options.draws)
    write_json(options.out, found)
    wrong = [row for row in found["rows"] if row["allowed"] and row["alarms"]["any"] > row["allowed"][1]]
    for row in wrong:
        print(f"too many false alarms: {row}", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
