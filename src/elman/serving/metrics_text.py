"""Counts and measures of a running server, as the text that Prometheus reads (format 0.0.4)."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class Metric(Protocol):
    """What has a name and lines."""

    name: str
    about: str
    kind: str

    def lines(self) -> Iterator[str]:
        """A line a value."""


class Counter:
    """Counts that only grow, one for each combination of labels.

    Args:
        name: Ends in `_total`.
        about: What is counted.
        labels: Names of the labels, in the order in which `add` is given their values.
    """

    kind = "counter"

    def __init__(self, name: str, about: str, *labels: str) -> None:
        self.name, self.about, self._labels = name, about, labels
        self._counts: dict[tuple[str, ...], int] = {}

    def add(self, *values: str, count: int = 1) -> None:
        """Counts."""
        self._counts[values] = self._counts.get(values, 0) + count

    def lines(self) -> Iterator[str]:
        """A line for each combination of labels that was counted."""
        for values, count in sorted(self._counts.items()):
            yield f"{self.name}{_labels(self._labels, values)} {count}"


class Gauge:
    """A value that goes up and down, read when it is asked for.

    Args:
        name: With its unit.
        about: What it is.
        read: Gives the values, by the value of the label.
        label: Its name.
    """

    kind = "gauge"

    def __init__(
        self, name: str, about: str, read: Callable[[], dict[str, float]], *, label: str | None = None
    ) -> None:
        self.name, self.about, self._read, self._label = name, about, read, label

    def lines(self) -> Iterator[str]:
        """A line for each value of the label."""
        for value, number in sorted(self._read().items()):
            labels = _labels((self._label,), (value,)) if self._label else ""
            yield f"{self.name}{labels} {number:.10g}"


class Histogram:
    """How often a value was at most each of some bounds, its sum, and how often there was one.

    Args:
        name: With its unit.
        about: What it is.
        bounds: Rising; the last one, infinity, comes by itself.
        label: Its name.
    """

    kind = "histogram"

    def __init__(self, name: str, about: str, *, bounds: Sequence[float], label: str) -> None:
        self.name, self.about, self._bounds, self._label = name, about, tuple(bounds), label
        self._counts: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    def add(self, label: str, value: float) -> None:
        """Takes a value in."""
        counts = self._counts.setdefault(label, [0] * (len(self._bounds) + 1))
        counts[bisect_left(self._bounds, value)] += 1
        self._sums[label] = self._sums.get(label, 0.0) + value

    def lines(self) -> Iterator[str]:
        """A line for each bound, then sum and count."""
        for label, counts in sorted(self._counts.items()):
            total = 0
            for bound, count in zip((*map("{:.10g}".format, self._bounds), "+Inf"), counts, strict=True):
                total += count
                yield f"{self.name}_bucket{_labels((self._label, 'le'), (label, bound))} {total}"
            own = _labels((self._label,), (label,))
            yield f"{self.name}_sum{own} {self._sums[label]:.10g}"
            yield f"{self.name}_count{own} {total}"


def metrics_text(metrics: Sequence[Metric]) -> str:
    """All of them, each with what it is."""
    lines: list[str] = []
    for metric in metrics:
        lines += [f"# HELP {metric.name} {metric.about}", f"# TYPE {metric.name} {metric.kind}", *metric.lines()]
    return "\n".join(lines) + "\n"


def _labels(names: Sequence[str], values: Sequence[str]) -> str:
    pairs = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in zip(names, values, strict=True))
    return f"{{{pairs}}}" if pairs else ""
