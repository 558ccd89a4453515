"""Single decisions of the gate on simulated models of known quality."""

from typing import Any

import numpy as np

from benchmarks.simulated_models import (
    draw_classifier,
    draw_language_model,
    draw_shuffled,
    draw_test_set,
    draw_texts,
)
from elman.config import RetrainingConfig
from elman.retraining.gate import DocumentScores, GateResult, decide

RULES = ("superior", "non_inferior")
SIZES = (100, 200, 500, 1_000, 2_189, 5_000)


def configured(rule: str = "superior", **changes: Any) -> RetrainingConfig:
    """The gate as params.yaml sets it, with a rule and other changes."""
    return RetrainingConfig.model_validate({"rule": rule, **changes})


def gate(challenger: DocumentScores, champion: DocumentScores | None, rule: str, **options: Any) -> GateResult:
    """One decision under a rule."""
    names = options.pop("test").names if "test" in options else ()
    return decide(challenger, champion, configured(rule), class_names=names, **options)


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
