"""The parts of a step add up to the step, in seconds and in multiply-adds."""

import pytest
from benchmarks.speed.step_profile import PARTS, multiply_adds_of_parts, split_step
from benchmarks.speed.workloads import epoch_workloads, step_workloads

ROWS = [row for row in [*step_workloads(), *epoch_workloads()] if not row.bidirectional]


@pytest.mark.parametrize("workload", ROWS, ids=lambda row: f"{row.name}-{row.cell}")
def test_multiply_adds_of_the_parts_are_those_of_the_step(workload) -> None:  # type: ignore[no-untyped-def]
    assert sum(multiply_adds_of_parts(workload, 100).values()) == workload.multiply_adds(100, training=True)


def test_parts_add_up_to_the_step_and_hold_no_time_twice() -> None:
    measured = {"whole forward": 5.0, "input products": 2.0, "whole backward": 9.0, "weight gradients": 5.0}
    parts = split_step(measured, 20.0)
    assert list(parts) == list(PARTS)
    assert [parts[name] for name in PARTS] == [2.0, 3.0, 0.0, 4.0, 5.0, 6.0]
    assert sum(parts.values()) == 20.0
