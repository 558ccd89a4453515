"""The study `gradient-flow`: how much of the gradient of the last step arrives at earlier ones."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from elman.diagnostics.layer_inputs import LayerInputs
from elman.diagnostics.studies.cells import VARIANTS, check_cells, make_layer
from elman.diagnostics.studies.jacobians import geometric_mean, input_gradient_norms, jacobian_sizes
from elman.diagnostics.studies.rotation import GAINS, STEPS, rotation_sizes
from elman.diagnostics.studies.sweep import VERSION, spread
from elman.errors import ConfigError, DataError
from elman.seeding import generator

CELLS = ("simple_rnn", "lstm_forget_bias_0", "lstm", "lstm_1997", "gru")
LENGTHS = (10, 50, 100)
DISTANCES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100)
_STATES = {"h": 0, "c": 1}
_INPUT_DIM = 32


def study_gradient_flow(
    *,
    cells: Sequence[str] = CELLS,
    seeds: Sequence[int],
    units: int = 64,
    sequences: int = 8,
    lengths: Sequence[int] = LENGTHS,
    distances: Sequence[int] = DISTANCES,
    report: Callable[[str], None],
) -> dict[str, Any]:
    """Measures layers at their initial weights, on standard normal inputs.

    Args:
        cells: Names of `VARIANTS`.
        seeds: Each names initial weights and inputs.
        units: U.
        sequences: How many a seed; a seed's value is the geometric mean over them.
        lengths: T of the gradient norms.
        distances: T - k of the Jacobian sizes; sequences are as long as the largest.
        report: Takes a line of progress.

    Returns:
        The rotation example; for each cell `gradient_norm`, by T, and `jacobian`, by state, with each seed's values.
    """
    check_cells(cells)
    if not seeds or min(*lengths, *distances) < 1:
        raise ConfigError("gradient-flow needs at least one seed, and lengths and distances of at least 1")
    start = time.perf_counter()
    rows = []
    for cell in cells:
        found = []
        for seed in seeds:
            found.append(_measure(cell, seed, units=units, sequences=sequences, lengths=lengths, distances=distances))
            report(f"gradient-flow  {cell} seed {seed}")
        rows.append(
            {
                "name": cell,
                "title": VARIANTS[cell].title,
                "gradient_norm": {str(length): _spread([one["norms"][length] for one in found]) for length in lengths},
                "jacobian": {
                    state: [_spread([one["sizes"][state][place] for one in found]) for place in range(len(distances))]
                    for state in found[0]["sizes"]
                },
            }
        )
    return {
        "version": VERSION,
        "study": "gradient-flow",
        "settings": {
            "seeds": list(seeds), "units": units, "input_dim": _INPUT_DIM, "sequences": sequences,
            "lengths": list(lengths), "distances": list(distances),
        },
        "rotation": {
            "steps": list(STEPS),
            "sizes": {str(gain): rotation_sizes(gain) for gain in GAINS},
            "curves": {str(gain): rotation_sizes(gain, steps=range(1, max(STEPS) + 1)) for gain in GAINS},
        },
        "rows": rows,
        "trained": [],
        "seconds": round(time.perf_counter() - start, 1),
    }  # fmt: skip


def trained_jacobians(
    layers: Sequence[LayerInputs], *, title: str, cell: str, distances: Sequence[int] = DISTANCES, windows: int = 16
) -> list[dict[str, Any]]:
    """The Jacobian sizes of a trained model's layers while it reads a text.

    Args:
        layers: What `layer_inputs` gives for the text.
        title: What figures call the model.
        cell: Its cell.
        distances: T - k.
        windows: At how many places of the text, evenly spread, T is put.

    Returns:
        For each layer and state the size at each distance: geometric mean, minimum and maximum over the places.

    Raises:
        DataError: The text is shorter than the largest distance.
    """
    length, longest = len(layers[0].inputs), max(distances)
    if length < longest:
        raise DataError(f"the text has {length} tokens; distances up to {longest} need at least as many")
    ends = np.unique(np.linspace(longest, length, windows).astype(int))
    found = []
    for number, (layer, inputs) in enumerate(layers, start=1):
        for state, place in _STATES.items():
            if place >= _state_count(layer):
                continue
            cut = np.stack([inputs[end - longest : end] for end in ends])  # (places, longest, D)
            sizes = jacobian_sizes(layer, cut, distances=distances, state=place)  # (places, distances)
            found.append(
                {
                    "title": title if len(layers) == 1 else f"{title}, layer {number}",
                    "cell": cell,
                    "state": state,
                    "distances": list(distances),
                    "size": [
                        {"mean": float(geometric_mean(column)), "min": float(min(column)), "max": float(max(column))}
                        for column in sizes.T
                    ],
                    "places": len(ends),
                }
            )
    return found


def _measure(
    cell: str, seed: int, *, units: int, sequences: int, lengths: Sequence[int], distances: Sequence[int]
) -> dict[str, Any]:
    layer = make_layer(cell, units=units, seed=seed)
    longest = max(*lengths, *distances)
    shape = (sequences, longest, _INPUT_DIM)
    inputs = generator(seed, "gradient-flow").standard_normal(shape).astype(np.float32)  # (B, T, D)
    norms = {length: float(geometric_mean(input_gradient_norms(layer, inputs[:, :length]))) for length in lengths}
    cut = inputs[:, -max(distances) :]
    sizes = {
        state: geometric_mean(jacobian_sizes(layer, cut, distances=distances, state=place), axis=0)
        for state, place in _STATES.items()
        if place < _state_count(layer)
    }
    return {"norms": norms, "sizes": sizes}


def _spread(values: Sequence[float]) -> dict[str, Any]:
    """Sizes differ by orders of magnitude, so that their mean is the geometric one."""
    return spread(values, mean=float(geometric_mean(values)))


def _state_count(layer: Any) -> int:
    return len(layer.state_size) if isinstance(layer.state_size, (list, tuple)) else 1
