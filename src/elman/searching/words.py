"""What a search prints."""

from collections.abc import Mapping, Sequence
from typing import Any

from optuna.trial import FrozenTrial
from rich import box
from rich.table import Table

from elman.searching.trial import Outcome

_SHORT = {
    "learning_rate": "rate",
    "num_layers": "layers",
    "embedding_dropout": "emb. drop",
    "word_dropout": "word drop",
    "dropout": "dropout",
    "units": "units",
}
_SHOWN_MEASURES = {"valid/accuracy": "accuracy", "valid/perplexity": "perplexity"}


def trial_line(
    trial: FrozenTrial, outcome: Outcome, *, of: int, place: int, best: Sequence[FrozenTrial], left: float
) -> str:
    """One trial in one line: value, settings, the best so far, and the time left.

    Args:
        trial: As it stands in the study.
        outcome: How it ended.
        of: How many there will be.
        place: Which one this is, counted from 1.
        best: Completed trials, the best first.
        left: Seconds.
    """
    settings = "  ".join(f"{_SHORT[name]} {value:g}" for name, value in _shown(trial.user_attrs["settings"]))
    if outcome.reason:
        value = "diverged"
    elif outcome.pruned:
        value = f"ended after epoch {outcome.epochs} at {outcome.loss:.4f}"
    else:
        value = f"valid loss {outcome.loss:.4f}"
    known = f"best {best[0].value:.4f} (trial {best[0].number})" if best else "no best yet"
    time = f"{outcome.seconds:.0f} s" + (f", about {duration(left)} left" if place < of else "")
    return f"{place}/{of} trial {trial.number}: {value}  {known}  {settings}  {time}"


def duration(seconds: float) -> str:
    """Seconds below two minutes, else minutes or hours.

    Example:
        >>> duration(34.4), duration(150), duration(9000)
        ('34 s', '2 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def trials_table(rows: Sequence[Mapping[str, Any]], *, title: str) -> Table:
    """The best trials, the best first; drawn with ASCII signs, as Markdown does."""
    table = Table(title=title, title_justify="left", title_style="", pad_edge=True, box=box.MARKDOWN)
    measures = [name for name in _SHOWN_MEASURES if name in rows[0]["measures"]]
    settings = [name for name, _ in _shown(rows[0]["settings"])]
    heads = ["valid loss", *(_SHOWN_MEASURES[name] for name in measures), *(_SHORT[name] for name in settings)]
    for head in ("trial", *heads, "parameters", "seconds"):
        table.add_column(head, justify="right")
    for row in rows:
        cells = [str(row["trial"]), f"{row['valid_loss']:.4f}", *(f"{row['measures'][name]:.4f}" for name in measures)]
        cells += [f"{row['settings'][name]:g}" for name in settings]
        table.add_row(*cells, f"{row['parameters']:,}", f"{row['seconds']:.0f}")
    return table


def _shown(settings: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Name and value in one order; what only follows another value is left out."""
    return [(name, settings[name]) for name in _SHORT if name in settings]
