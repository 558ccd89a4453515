"""Simulated nights of `elman retrain`: models of known quality before the gate."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.simulated_models import (
    LabelledSet,
    draw_classifier,
    draw_language_model,
    draw_shuffled,
    draw_test_set,
    draw_texts,
)
from elman.config import RetrainingConfig
from elman.retraining.gate import DocumentScores, GateResult, decide

RULES = ("superior", "non_inferior")
SEED_SPREADS = (0.0, 0.003, 0.008, 0.013)  # of the true accuracy over seeds; the last three were met on R8
SIZES = (100, 200, 500, 1_000, 2_189, 5_000)
TEXT_SEED_SPREADS = (0.0, 0.002, 0.005)  # of the true bits a byte over seeds


def configured(rule: str = "superior", **changes: Any) -> RetrainingConfig:
    """The gate as params.yaml sets it, with a rule and other changes."""
    return RetrainingConfig.model_validate({"rule": rule, **changes})


def gate(challenger: DocumentScores, champion: DocumentScores | None, rule: str, **options: Any) -> GateResult:
    """One decision under a rule."""
    names = options.pop("test").names if "test" in options else ()
    return decide(challenger, champion, configured(rule), class_names=names, **options)


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


def _counted(counts: list[int], new_data: bool) -> dict[str, Any]:
    at_most_one = float(np.mean([count <= 1 for count in counts]))
    return {
        "new_data": new_data,
        "runs": len(counts),
        "mean_promotions": float(np.mean(counts)),
        "share_at_most_one": at_most_one,
    }


def planted(
    random: np.random.Generator, *, runs: int, gain: float, champion: float, sizes: tuple[int, ...] = SIZES
) -> list[dict[str, Any]]:
    """How often a challenger that is truly better (or worse) by `gain` is promoted, by size and rule."""
    rows = []
    for documents in sizes:
        for rule, new_data in (("superior", True), ("non_inferior", True), ("superior", False)):
            hits = 0
            for _ in range(runs):
                test = draw_test_set(random, documents)
                pair = [draw_classifier(random, test, accuracy) for accuracy in (champion + gain, champion)]
                hits += gate(*pair, rule, new_data=new_data, test=test).promote
            rows.append(
                {"documents": documents, "gain": gain, "rule": rule, "new_data": new_data, "promoted": hits / runs}
            )
    return rows


def planted_text(random: np.random.Generator, *, runs: int, gain: float) -> list[dict[str, Any]]:
    """The same for language models: `gain` in bits a byte saved."""
    rows = []
    for documents in (50, 200, 1_000):
        for rule in RULES:
            hits = 0
            for _ in range(runs):
                texts = draw_texts(random, documents)
                pair = [draw_language_model(random, texts, worse) for worse in (0.0, gain)]
                hits += gate(*pair, rule).promote
            rows.append({"documents": documents, "gain": gain, "rule": rule, "promoted": hits / runs})
    return rows


def shuffled(random: np.random.Generator, *, runs: int) -> dict[str, Any]:
    """Promotions of models of shuffled labels, against a champion and as a first one."""
    counts = {"against_champion": 0, "first": 0}
    for _ in range(runs):
        test = draw_test_set(random)
        bad, champion = draw_shuffled(random, test), draw_classifier(random, test, 0.95)
        counts["against_champion"] += gate(bad, champion, "non_inferior", test=test).promote
        counts["first"] += gate(bad, None, "non_inferior", test=test).promote
    return {"runs": runs, **counts}


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


def class_blocks(random: np.random.Generator, *, runs: int) -> dict[str, Any]:
    """How often the floors per class block a challenger of the champion's quality, and one that has lost a class."""
    false = 0
    lost = dict.fromkeys(("grain", "ship", "trade"), 0)
    for _ in range(runs):
        test = draw_test_set(random)
        champion, equal = draw_classifier(random, test, 0.95), draw_classifier(random, test, 0.95)
        false += any(row.problem for row in gate(equal, champion, "non_inferior", test=test).per_class)
        for name in lost:
            number = test.names.index(name)
            predicted = np.where(test.labels == number, (number + 1) % len(test.names), equal.predicted)
            worse = DocumentScores(ids=equal.ids, labels=test.labels, predicted=predicted)
            lost[name] += any(row.problem for row in gate(worse, champion, "non_inferior", test=test).per_class)
    return {"runs": runs, "blocked_equal": false / runs, "blocked_lost": {k: v / runs for k, v in lost.items()}}
