"""Nights of `elman retrain` in a row, with simulated models of known quality before the gate."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.retraining_trials import RULES, gate
from benchmarks.simulated_models import (
    LabelledSet,
    draw_classifier,
    draw_language_model,
    draw_test_set,
    draw_texts,
)
from elman.retraining.gate import DocumentScores

SEED_SPREADS = (0.0, 0.003, 0.008, 0.013)  # of the true accuracy over seeds; the last three were met on R8
TEXT_SEED_SPREADS = (0.0, 0.002, 0.005)  # of the true bits a byte over seeds


def promotions(draw: Callable[[], DocumentScores], nights: int, rule: str, **options: Any) -> int:
    """How often a champion is replaced in so many nights, each with a challenger of a new seed."""
    champion = draw()
    anchor, count = None, 0
    for _ in range(nights):
        result = gate(challenger := draw(), champion, rule, anchor=anchor, **options)
        anchor = result.anchor
        if result.promote:
            champion, count = challenger, count + 1
    return count


def new_seeds(random: np.random.Generator, *, runs: int, nights: int = 20) -> list[dict[str, Any]]:
    """The same data with a new seed, night after night: as the job asks (new_data false), and as a rule alone would."""
    rows = []
    for spread in SEED_SPREADS:
        for rule in RULES:
            for new_data in (False, True):
                counts = []
                for _ in range(runs):
                    test = draw_test_set(random)

                    def draw(test: LabelledSet = test, spread: float = spread) -> DocumentScores:
                        return draw_classifier(random, test, min(0.99, 0.95 + spread * random.normal()))

                    counts.append(promotions(draw, nights, rule, new_data=new_data, test=test))
                rows.append({"task": "classifier", "seed_spread": spread, "rule": rule, **_counted(counts, new_data)})
    for spread in TEXT_SEED_SPREADS:
        for new_data in (False, True):
            counts = []
            for _ in range(max(1, runs // 4)):
                texts = draw_texts(random, 1_000)
                counts.append(
                    promotions(
                        lambda texts=texts, spread=spread: draw_language_model(random, texts, spread * random.normal()),
                        nights,
                        "superior",
                        new_data=new_data,
                    )
                )
            row = {"task": "language_model", "seed_spread": spread, "rule": "superior"}
            rows.append({**row, **_counted(counts, new_data)})
    return rows


def new_seeds_of_three(random: np.random.Generator, *, runs: int, nights: int = 20) -> list[dict[str, Any]]:
    """The same data with a new seed where the gate knows the spread of the seeds, from three of them each night."""
    rows = []
    for spread in SEED_SPREADS[1:]:
        counts = []
        for _ in range(runs):
            test = draw_test_set(random)
            champion = draw_classifier(random, test, min(0.99, 0.95 + spread * random.normal()))
            anchor, count = None, 0
            for _ in range(nights):
                challenger = draw_classifier(random, test, min(0.99, 0.95 + spread * random.normal()))
                known = float(np.std(spread * random.normal(size=3), ddof=1))
                result = gate(
                    challenger, champion, "non_inferior", anchor=anchor, new_data=False, seed_spread=known, test=test
                )
                anchor = result.anchor
                if result.promote:
                    champion = challenger
                    count += 1
            counts.append(count)
        rows.append({"task": "classifier", "seed_spread": spread, **_counted(counts, False)})
    return rows


def _counted(counts: list[int], new_data: bool) -> dict[str, Any]:
    at_most_one = float(np.mean([count <= 1 for count in counts]))
    return {
        "new_data": new_data,
        "runs": len(counts),
        "mean_promotions": float(np.mean(counts)),
        "share_at_most_one": at_most_one,
    }


def ratchet(
    random: np.random.Generator, *, runs: int, nights: int = 60, step: float = 0.004, documents: int = 10_000
) -> list[dict[str, Any]]:
    """Each night a challenger that is truly worse than the champion by `step`, on new data: how far down does it go?"""
    rows = []
    for anchored in (False, True):
        lost, lost_on_set = [], []
        for _ in range(runs):
            test = draw_test_set(random, documents)
            truth = 0.95
            champion = draw_classifier(random, test, truth)
            anchor, start = None, float(champion.right.mean())
            for _ in range(nights):
                challenger = draw_classifier(random, test, truth - step)
                result = gate(challenger, champion, "non_inferior", anchor=anchor if anchored else None, test=test)
                anchor = result.anchor
                if result.promote:
                    champion, truth = challenger, truth - step
            lost.append(0.95 - truth)
            lost_on_set.append(start - float(champion.right.mean()))
        rows.append(
            {
                "anchor": anchored,
                "runs": runs,
                "nights": nights,
                "documents": documents,
                "step": step,
                "mean_true_loss": float(np.mean(lost)),
                "worst_true_loss": float(np.max(lost)),
                "worst_loss_on_the_set": float(np.max(lost_on_set)),
            }
        )
    return rows
