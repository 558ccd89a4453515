"""The tables of a study, as Markdown that is in columns, for the terminal and for its page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Result = Mapping[str, Any]
_ATTRACTORS_SHOWN = (0, 1, 2, 5, 10, 15, 20)
_STEPS_SHOWN = (10, 50, 100)


def study_tables(result: Result) -> str:
    """All tables of a result, each under a line that says what it holds."""
    return "\n\n".join(_TABLES[result["study"]](result))


def _regression(result: Result) -> list[str]:
    settings = result["settings"]
    measures = {"mse": f"T = {settings['length']}", "mse_long": f"T = {settings['long_length']}"}
    rows = [
        [
            row["title"],
            *(_spread(row["measures"][name]) for name in measures),
            f"{sum(value < settings['solved'] for value in row['measures']['mse']['per_seed'])} of {len(row['seeds'])}",
            f"{row['seconds']:.0f}",
        ]
        for row in result["rows"]
    ]
    baseline = result["baseline"]
    rows.append([baseline["title"], *(_number(baseline["measures"][name]) for name in measures), "", ""])
    caption = (
        f"Mean squared error on fresh sequences, mean (minimum to maximum) over {_seeds(result)}; trained on "
        f"T = {settings['length']} for {settings['steps']:,} steps of {settings['batch_size']}, "
        f"{settings['units']} units."
    )
    heads = ["cell", *measures.values(), f"seeds below {settings['solved']}", "s a seed"]
    return [_table(caption, heads, rows)]


def _gradient_flow(result: Result) -> list[str]:
    settings = result["settings"]
    seeds = f"geometric mean (minimum to maximum) over {len(settings['seeds'])} seeds"
    norms = [
        [row["title"], *(_spread(row["gradient_norm"][str(length)]) for length in settings["lengths"])]
        for row in result["rows"]
    ]
    places = {d: place for place, d in enumerate(settings["distances"]) if d in _STEPS_SHOWN}
    sizes = [
        [f"{row['title']}, {state}", *(_spread(values[place]) for place in places.values())]
        for row in result["rows"]
        for state, values in row["jacobian"].items()
    ]
    trained = [
        [f"{row['title']}, {row['state']}", *(_spread(row["size"][place]) for place in places.values())]
        for row in result["trained"]
    ]
    steps = result["rotation"]["steps"]
    rotation = [
        [f"g = {gain}", *(f"{size:.4f}" for size in sizes)] for gain, sizes in result["rotation"]["sizes"].items()
    ]
    distances = [f"T - k = {distance}" for distance in places]
    tables = [
        _table(
            f"Norm of d(sum of h_T) / d x_0 at initial weights, {seeds}.",
            ["cell", *(f"T = {length}" for length in settings["lengths"])], norms,
        ),
        _table(
            f"Size of the Jacobian product, ||ds_T / ds_k||_F / sqrt(U), at initial weights, {seeds}.",
            ["cell, state s", *distances], sizes,
        ),
    ]  # fmt: skip
    if trained:
        caption = (
            f"The same for a trained model, geometric mean (minimum to maximum) over {result['trained'][0]['places']}"
        )
        tables.append(_table(f"{caption} places of the text.", ["model, state s", *distances], trained))
    caption = "Two units that rotate: size of the Jacobian product after some steps, by the gain of a step."
    return [*tables, _table(caption, ["gain", *(f"step {step}" for step in steps)], rotation)]


def _gates(result: Result) -> list[str]:
    tables = []
    for row in result["rows"]:
        gates = [
            [name, f"{gate['mean']:.3f}", f"{gate['shut']:.1%}", f"{gate['open']:.1%}"]
            for name, gate in row["gates"].items()
        ]
        facts = [
            f"{row['title']}, {row['units']} units over {row['tokens']} tokens.",
            f"Outputs beyond ±0.9: {row['saturated_outputs']:.1%}. Dead units: {len(row['dead_units'])}.",
        ]
        life = row["half_life"]
        if life is not None:
            ends = f"{_tokens(life['low_quartile'])} to {_tokens(life['high_quartile'])}"
            facts.append(
                f"Half-life by the {row['keeping']} gate: median {_tokens(life['median'])} tokens, quartiles {ends}; "
                f"below one token: {life['below_one_token']:.1%} of the units."
            )
        facts.append(f"Flags: {'; '.join(row['flags']) or 'none'}.")
        head = " ".join(facts)
        tables.append(_table(head, ["gate", "mean", "below 0.1", "above 0.9"], gates) if gates else head)
    return tables


def _agreement(result: Result) -> list[str]:
    settings = result["settings"]
    shown = [k for k in _ATTRACTORS_SHOWN if k <= settings["tested_attractors"]]
    tables = []
    for numbers, words in (("random", "random numbers"), ("opposite", "the number that the subject has not")):
        rows = [
            [row["title"], *(_percent_spread(row["accuracy"][numbers][k]) for k in shown)] for row in result["rows"]
        ]
        rows += [
            [baseline["title"], *(f"{100 * baseline['accuracy'][numbers][k]:.1f}" for k in shown)]
            for baseline in result["baselines"]
        ]
        caption = (
            f"Attractors of {words}: verbs of the right number in per cent, mean (minimum to maximum) over "
            f"{_seeds(result)}, by the number k of attractors; trained on k = 0 to {settings['trained_attractors']}."
        )
        tables.append(_table(caption, ["cell", *(f"k = {k}" for k in shown)], rows))
    return tables


_TABLES: dict[str, Callable[[Result], list[str]]] = {
    "adding": _regression,
    "reset": _regression,
    "gradient-flow": _gradient_flow,
    "gates": _gates,
    "agreement": _agreement,
}


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[place]) for row in (heads, *rows)) for place in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        first, *rest = cells
        padded = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        return f"| {' | '.join(padded)} |"

    rule = f"|{'-' * (widths[0] + 2)}|{'|'.join('-' * (width + 1) + ':' for width in widths[1:])}|"
    return "\n".join([caption, "", line(heads), rule, *(line(row) for row in rows)])


def _seeds(result: Result) -> str:
    count = len(result["rows"][0]["seeds"])
    return f"{count} seeds" if count > 1 else "1 seed"


def _spread(values: Mapping[str, float]) -> str:
    return f"{_number(values['mean'])} ({_number(values['min'])} to {_number(values['max'])})"


def _percent_spread(values: Mapping[str, float]) -> str:
    return f"{100 * values['mean']:.1f} ({100 * values['min']:.1f} to {100 * values['max']:.1f})"


def _number(value: float) -> str:
    """Two digits that count, without an exponent where that is short.

    Example:
        >>> _number(0.0031415), _number(12.34), _number(3.2e-9), _number(0.0)
        ('0.0031', '12', '3.2e-09', '0')
    """
    return f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}"


def _tokens(value: float | None) -> str:
    return "without end" if value is None else f"{value:.3g}"
