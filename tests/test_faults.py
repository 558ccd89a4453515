"""docs/faults.md names tests that exist."""

import ast
import re

from tests.helpers.stage_deps import ROOT

PAGE = ROOT / "docs" / "faults.md"


def names_in(path: str) -> set[str]:
    """The tests of a file, those of a class as `Class::test`."""
    found = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        found |= {f"{prefix}{part.name}" for part in inner if isinstance(part, ast.FunctionDef)}
    return found


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
    return [row for row in cells if row[0] != "fault"]


def test_every_fault_names_a_test_and_every_named_test_exists() -> None:
    named = [(row[0], *re.findall(r"`(tests/\S+?\.py)::(\S+?)`", row[-1])) for row in rows()]
    assert len(named) >= 18
    for fault, *tests in named:
        assert tests, f"no test guards: {fault}"
        for path, name in tests:
            assert name in names_in(path), f"{path}::{name}, named for {fault!r}, does not exist"


def test_every_fault_is_told_once_with_its_right_behaviour() -> None:
    assert all(len(row) == 3 and row[1] for row in rows())
    faults = [row[0] for row in rows()]
    assert len(set(faults)) == len(faults)
