"""What a layer's gates say of its memory: saturation, half-lives, dead units, and what is wrong."""

from typing import Any

import numpy as np
import numpy.typing as npt

from elman.diagnostics.gate_values import GateValues

# Below and above these a gate is called shut and open, as in Karpathy et al. (2015).
SHUT, OPEN = 0.1, 0.9
_SATURATED_SHARE = 0.9  # of a gate's values shut or open: what the gate does hardly depends on the text any more
_VANISHING_SHARE = 0.9  # of units that lose half of their state in less than a token
_DEAD_SPREAD = 1e-3  # standard deviation of h over the text; tanh units work on a scale of 1


def half_lives(keeping: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How many tokens until half of a unit's state is gone: ln 0.5 / mean(ln f).

    With the mean of ln f over the text, since the state is multiplied by the product of all f; for a gate that is
    always f this is ln 0.5 / ln f.

    Args:
        keeping: float64 (T, U). The forget gate, or a GRU's update gate; 0 to 1.

    Returns:
        float64 (U,). Infinite for a gate that is always 1.

    Example:
        >>> half_lives(np.array([[0.5, 0.9, 1.0]])).round(2).tolist()
        [1.0, 6.58, inf]
    """
    mean = np.log(np.maximum(keeping, np.finfo(np.float64).tiny)).mean(axis=0)  # (U,)
    with np.errstate(divide="ignore"):
        return np.where(mean == 0.0, np.inf, np.log(0.5) / mean)


def gate_report(values: GateValues) -> dict[str, Any]:
    """Shares, half-lives and flags of one layer over one text, as plain values.

    Returns:
        `gates`: for each gate its mean and the shares of values below `SHUT` and above `OPEN`. `half_life`: the median
        over units, the quartiles, the share below one token, and each unit's, None for a gate that never closes; None
        for a cell without such a gate. `saturated_outputs`: the share of |h| above `OPEN`. `dead_units`: those whose
        output hardly changes over the text. `flags`: each what is wrong, in a sentence that begins with "vanishing",
        "saturated" or "dead".
    """
    gates = {
        name: {
            "mean": float(gate.mean()),
            "shut": float((gate < SHUT).mean()),
            "open": float((gate > OPEN).mean()),
        }
        for name, gate in values.gates.items()
    }
    half_life = None if values.keeping is None else _half_life_summary(values.gates[values.keeping])
    # One token says nothing of a spread.
    dead = np.flatnonzero(values.output.std(axis=0) < _DEAD_SPREAD).tolist() if len(values.output) > 1 else []
    report = {
        "tokens": len(values.output),
        "units": values.output.shape[1],
        "gates": gates,
        "keeping": values.keeping,
        "half_life": half_life,
        "saturated_outputs": float((np.abs(values.output) > OPEN).mean()),
        "dead_units": dead,
    }
    return {**report, "flags": _flags(report)}


def _half_life_summary(keeping: npt.NDArray[np.float64]) -> dict[str, Any]:
    lives = half_lives(keeping)
    low, median, high = np.quantile(lives, [0.25, 0.5, 0.75], method="nearest")
    return {
        "median": _finite(median),
        "low_quartile": _finite(low),
        "high_quartile": _finite(high),
        "below_one_token": float((lives < 1.0).mean()),
        "per_unit": [_finite(life) for life in lives],
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _flags(report: dict[str, Any]) -> list[str]:
    flags = []
    life = report["half_life"]
    if life is not None and life["below_one_token"] >= _VANISHING_SHARE:
        flags.append(
            f"vanishing: {life['below_one_token']:.0%} of the units lose half of their state in less than a token "
            f"(the {report['keeping']} gate is nearly shut); raise its bias"
        )
    for name, gate in report["gates"].items():
        share = gate["shut"] + gate["open"]
        if share >= _SATURATED_SHARE:
            flags.append(f"saturated: {share:.0%} of the {name} gate's values are below {SHUT} or above {OPEN}")
    if report["saturated_outputs"] >= _SATURATED_SHARE:
        flags.append(f"saturated: {report['saturated_outputs']:.0%} of the outputs are beyond -{OPEN} or {OPEN}")
    if report["dead_units"]:
        count = len(report["dead_units"])
        flags.append(f"dead: the output of {count} of {report['units']} units hardly changes over the text")
    return flags
