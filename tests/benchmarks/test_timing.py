"""What times of rounds say, with libraries that take as long as they are told."""

import statistics
from typing import Any

import pytest
from benchmarks.speed import timing
from benchmarks.speed.timing import time_row
from benchmarks.speed.workloads import Workload

ROW = Workload("row", "classifier", "lstm", ragged=True)


class FakePeer:
    """A library with one time for each round."""

    def __init__(self, name: str, seconds: list[float]) -> None:
        self.name, self.left, self.asked = name, list(seconds), 0

    def ask(self, **request: Any) -> dict[str, Any]:
        """Answer as `benchmarks.speed.worker` does; the first run is the one that says how long a step takes."""
        if "prepare" in request:
            return {"ready": True, "tokens": 100}
        if "ceiling" in request:
            return {"gigaflops": 100.0}
        self.asked += 1
        return {"seconds": self.left[0] if self.asked == 1 else self.left.pop(0)}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "SETTLE_SECONDS", 0.0)


def measured(**seconds: list[float]) -> dict[str, Any]:
    peers: Any = [FakePeer(name.replace("_", "-"), values) for name, values in seconds.items()]
    return time_row(ROW, "train", peers, repeats=len(seconds["elman"]))


def test_ratio_is_the_median_of_the_pairs_of_each_round() -> None:
    ours, theirs, keras = [1.0, 2.0, 4.0], [2.0, 2.0, 12.0], [4.0, 4.0, 4.0]
    row = measured(elman=ours, pytorch_gathered=theirs, keras=keras)
    assert row["vs_pytorch"] == 2.0  # of 2, 1 and 3
    assert row["vs_keras"] == 2.0  # of 4, 2 and 1
    assert (row["elman_ms"], row["pytorch_ms"], row["repeats"]) == (2000.0, 2000.0, 3)


def test_the_faster_way_counts_and_the_slow_one_is_given_up() -> None:
    row = measured(elman=[1.0] * 9, pytorch_gathered=[2.0] * 9, pytorch_packed=[4.0] * 2, keras=[3.0] * 9)
    assert (row["pytorch_way"], row["vs_pytorch"]) == ("gathered", 2.0)
    assert row["pytorch_ways_ms"] == {"gathered": 2000.0, "packed": 4000.0}


def test_a_way_that_comes_back_is_compared_with_its_own_rounds() -> None:
    """The machine slows down after three rounds: `packed` is given up, comes back for the last four and wins."""
    ours = [1.0, 1.0, 1.0, *[10.0] * 6]
    gathered = [2.0, 2.0, 2.0, *[60.0] * 6]
    packed = [4.0, 4.0, *[20.0] * 4]
    row = measured(elman=ours, pytorch_gathered=gathered, pytorch_packed=packed, keras=ours)
    assert row["pytorch_way"] == "packed"
    assert row["vs_pytorch"] == statistics.median([4.0, 4.0, 2.0, 2.0, 2.0, 2.0])
