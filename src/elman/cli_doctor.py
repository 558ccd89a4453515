"""`elman doctor`: whether this machine computes what it should, and whether the tracking store is all right."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from elman.errors import CheckError, TrackingError
from elman.stages import load_tensorflow

if TYPE_CHECKING:
    from elman.diagnostics.check import Check
    from elman.tracking.health import StoreHealth


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output only.")] = False,
    store: Annotated[bool, typer.Option("--store", help="Only the tracking store of this folder, in seconds.")] = False,
) -> None:
    """Check in a minute that kernels, gradients and seeds are right on this machine, and the tracking store sound."""
    from elman.tracking.health import check_store

    health = check_store(Path())
    if not as_json:
        _print_store(health)
    if not store:
        _check_machine(health, as_json=as_json)
    elif as_json:
        typer.echo(json.dumps({"passed": not health.problems, "store": health.to_json()}))
    if health.problems:
        raise TrackingError("; ".join(health.problems))


def _print_store(health: "StoreHealth") -> None:
    typer.echo(f"tracking store {health.address}: {'NOT RIGHT' if health.problems else 'ok'}")
    for line in (*health.said, *health.problems):
        typer.echo(f"  {line}")


def _check_machine(health: "StoreHealth", *, as_json: bool) -> None:
    load_tensorflow()
    from elman.diagnostics.machine import describe_machine, machine_lines

    started = time.perf_counter()
    facts = describe_machine()
    if not as_json:
        for line in machine_lines(facts):
            typer.echo(line)
        typer.echo(f"\n{'':6}  {'difference':>10}  {'allowed':>8}  check")
    checks = []
    for check in run_checks(gpu=any(device.startswith("GPU") for device in facts["devices"])):
        checks.append(check)
        if not as_json:
            _print(check)
    seconds = time.perf_counter() - started
    failed = [check for check in checks if not check.passed]
    if as_json:
        passed = not failed and not health.problems
        report: dict[str, Any] = {"passed": passed, "seconds": seconds, "machine": facts, "store": health.to_json()}
        typer.echo(json.dumps(report | {"checks": [check.to_json() for check in checks]}, allow_nan=False))
    if failed:
        names = "; ".join(f"{check.name} ({check.detail})" for check in failed)
        raise CheckError(
            f"{len(failed)} of {len(checks)} checks failed: {names}. Results of this machine cannot be trusted. Delete "
            "src/elman/layers/kernels/__pycache__ (compiled before) and try again; loop='generic' uses no kernel."
        )
    if not as_json:
        typer.echo(f"\nall {len(checks)} checks are ok, in {seconds:.0f} s")


def run_checks(*, gpu: bool) -> "Iterator[Check]":
    """Run all checks, one after the other.

    Args:
        gpu: Whether TensorFlow sees a GPU.
    """
    from elman.diagnostics.kernel_check import check_forget_bias, check_kernels
    from elman.diagnostics.softmax_check import check_softmax

    yield from check_kernels(gpu=gpu)
    yield check_softmax()
    yield from check_forget_bias()
    yield from _check_repeats(gpu=gpu)


def _check_repeats(*, gpu: bool) -> "Iterator[Check]":
    """Train twice with one seed: the same bits on a CPU, nearly the same weights on a GPU, whose sums have no order."""
    from elman.config import Cell
    from elman.diagnostics.check import compare
    from elman.training.repeat import weight_hash, weights_of_short_training

    for cell in get_args(Cell):
        first, second = (weights_of_short_training(cell, seed=1) for _ in range(2))
        hashes = [weight_hash(weights)[:12] for weights in (first, second)]
        check = compare(
            f"{cell}: two short trainings with one seed",
            {f"weight {number}": weight for number, weight in enumerate(first)},
            {f"weight {number}": weight for number, weight in enumerate(second)},
            tolerance=1e-3 if gpu else 0.0,
            detail=f"hashes of the weights {hashes[0]} and {hashes[1]}",
        )
        yield check._replace(passed=check.passed and (gpu or hashes[0] == hashes[1]))


def _print(check: "Check") -> None:
    word = "ok" if check.passed else "FAILED"
    typer.echo(f"{word:6}  {check.difference:10.1e}  {check.tolerance:8.0e}  {check.name}")
    if not check.passed:
        typer.echo(f"{'':28}{check.detail}")
