"""How training shows where it is: a bar with the time left in a terminal, one plain line an epoch otherwise."""

import sys
from typing import Any

import keras
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


class ProgressReport(keras.callbacks.Callback):
    """Prints to standard output.

    Args:
        title: Such as "classifier lstm seed 1".
        epochs: How many there will be.
    """

    def __init__(self, title: str, epochs: int) -> None:
        super().__init__()
        self._title, self._epochs, self._epoch = title, epochs, 0
        self._console = Console(file=sys.stdout, highlight=False)
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"))
        self._bar = Progress(*columns, TimeRemainingColumn(), console=self._console, transient=True)
        self._task = self._bar.add_task(title, total=float(epochs))

    def on_train_begin(self, logs: Any = None) -> None:
        """Says where training goes on after a stop, and shows the bar."""
        epochs, steps = int(logs["epochs_done"]), int(logs["steps_done"])
        if epochs or steps:
            done = [f"epoch {epochs}"] * (epochs > 0) + [f"{steps} steps of epoch {epochs + 1}"] * (steps > 0)
            self._console.print(f"{self._title}: went on after {' and '.join(done)}", soft_wrap=True)
        if self._console.is_terminal:
            self._bar.start()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Remembers which epoch the steps belong to."""
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Moves the bar."""
        self._bar.update(self._task, completed=self._epoch + logs["share"])

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """One line of measures."""
        shown = {name.removeprefix("valid/"): value for name, value in logs.items() if name.startswith("valid/")}
        text = "  ".join(f"{name} {value:.4f}" for name, value in shown.items())
        speed = f"{logs['train/seconds']:.1f} s  {logs['train/tokens_per_second']:,.0f} tokens/s"
        head = f"{self._title}  epoch {epoch + 1}/{self._epochs}  train loss {logs['train/loss']:.4f}"
        self._console.print(f"{head}  valid: {text}  {speed}", soft_wrap=True)

    def on_train_end(self, logs: Any = None) -> None:
        """Removes the bar."""
        self._bar.stop()
