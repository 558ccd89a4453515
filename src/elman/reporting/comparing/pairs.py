"""All pairs of systems: difference, interval, p over documents and seeds, corrected together."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from elman.errors import DataError
from elman.metrics.detectable import smallest_detectable
from elman.metrics.holm import holm
from elman.metrics.mcnemar import mcnemar
from elman.metrics.paired_bootstrap import RESAMPLES, bootstrapped
from elman.metrics.paired_seeds import paired_seeds
from elman.metrics.sign_flip import sign_flip
from elman.reporting.comparing.measuring import DEFAULTS, WHOLE_SET, Measured, measure_systems, median_seed
from elman.reporting.comparing.same_documents import check_same_documents
from elman.reporting.comparing.system import System
from elman.reporting.comparing.words import outcome, verdict

ALPHA = 0.05


def compare_systems(
    systems: Sequence[System], *, measure: str | None = None, resamples: int = RESAMPLES, seed: int = 1
) -> dict[str, Any]:
    """Compares every pair of systems by one measure.

    The p over documents is that of sign-flips of per-document scores, averaged over seeds: nats for language models,
    right or wrong for accuracy (McNemar's exact test where both have one seed; else McNemar's test on the two median
    seeds stands beside it). Macro-F1 and the calibration error are no sums over documents: their p is the
    bootstrap's. Holm's correction is over all pairs, once for documents and once for seeds.

    Args:
        systems: Two or more, on the same documents, with names of their own.
        measure: None is accuracy or bits_per_byte.
        resamples: Of the bootstrap.
        seed: Of all draws.

    Returns:
        What `elman compare --json` prints for one task.

    Raises:
        DataError: Fewer than two systems, one name twice, or other test sets.
        MetricError: A measure that the task does not have, or that two tokenizers make meaningless.
    """
    names = [system.name for system in systems]
    if len(set(names)) < len(names) or len(names) < 2:
        raise DataError(f"a comparison needs two or more systems with names of their own; {', '.join(names)} came")
    chosen = measure or DEFAULTS[systems[0].task]
    check_same_documents(systems, measure=chosen)
    measured = measure_systems(systems, chosen, resamples=resamples, seed=seed)
    places = list(itertools.combinations(range(len(systems)), 2))
    pairs = [_pair(systems[a], systems[b], measured[a], measured[b], len(places)) for a, b in places]
    if chosen not in WHOLE_SET:
        scores = np.stack([one.per_document for one in measured], axis=1)  # (N, systems)
        differences = np.stack([scores[:, a] - scores[:, b] for a, b in places], axis=1)  # (N, pairs)
        for pair, p_value in zip(pairs, sign_flip(differences, seed=seed), strict=True):
            exact = chosen == "accuracy" and pair["mcnemar"]["whole"]
            pair["p"], pair["test"] = (pair["mcnemar"]["p"], "McNemar") if exact else (float(p_value), "sign-flip")
    _correct(pairs)
    for pair in pairs:
        pair["outcome"] = outcome(pair, alpha=ALPHA)
        pair["verdict"] = verdict(pair, chosen)
    return {
        "version": 1,
        "task": systems[0].task,
        "measure": chosen,
        "num_documents": len(systems[0].documents["id"]),
        "resamples": resamples,
        "seed": seed,
        "systems": [_row(system, one) for system, one in zip(systems, measured, strict=True)],
        "pairs": pairs,
    }


def _row(system: System, one: Measured) -> dict[str, Any]:
    own = bootstrapped(one.value, one.resampled, documents=len(one.per_document))
    seeds = {str(seed): value for seed, value in one.by_seed.items()}
    return {"name": system.name, "value": own.value, "low": own.low, "high": own.high, "by_seed": seeds}


def _pair(first: System, second: System, one: Measured, other: Measured, pairs: int) -> dict[str, Any]:
    found = bootstrapped(one.value - other.value, one.resampled - other.resampled, documents=len(one.per_document))
    one_scores, other_scores = (
        system.nll_nats if system.predicted is None else system.predicted for system in (first, second)
    )
    error = found.standard_error
    pair: dict[str, Any] = {
        "first": first.name,
        "second": second.name,
        "difference": found.value,
        "low": found.low,
        "high": found.high,
        "p": found.p_value,
        "test": "bootstrap",
        "bootstrap_p": found.p_value,
        "smallest_detectable": smallest_detectable(error, alpha=ALPHA / pairs) if error else None,
        "identical": bool(np.array_equal(one_scores, other_scores)),
        "over_seeds": paired_seeds(one.by_seed, other.by_seed)._asdict(),
    }
    if first.predicted is not None and second.predicted is not None:
        labels, chosen = first.documents["label"], (median_seed(one.by_seed), median_seed(other.by_seed))
        a = first.predicted[first.seeds.index(chosen[0])] == labels
        b = second.predicted[second.seeds.index(chosen[1])] == labels
        result, whole = mcnemar(a, b), len(first.seeds) == len(second.seeds) == 1
        counts = {"only_first": result.only_first, "only_second": result.only_second, "p": result.p_value}
        pair["mcnemar"] = {**counts, "seeds": list(chosen), "whole": whole}
    return pair


def _correct(pairs: list[dict[str, Any]]) -> None:
    """Holm over all pairs, for documents; and over the pairs that have a p over seeds."""
    for pair, adjusted in zip(pairs, holm([pair["p"] for pair in pairs]), strict=True):
        pair["adjusted_p"] = adjusted
        pair["over_seeds"]["adjusted_p"] = None
    tested = [pair["over_seeds"] for pair in pairs if pair["over_seeds"]["p_value"] is not None]
    for over, adjusted in zip(tested, holm([over["p_value"] for over in tested]), strict=True):
        over["adjusted_p"] = adjusted
