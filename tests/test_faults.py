"""docs/faults.md names tests that exist, and so do the pages on failures and security."""

import ast
import re

import pytest

from elman.errors import ElmanError
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


@pytest.mark.parametrize("page", ["failures.md", "security.md"])
def test_a_page_that_promises_something_names_a_test_that_exists(page: str) -> None:
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.rstrip(" |").endswith("| tests"))
    table = [line for line in lines[start + 2 :] if line.startswith("| ") and "`tests/" in line]
    assert len(table) >= 8
    for line in table:
        named = re.findall(r"`(tests/\S+?\.py)::(\S+?)`", line)
        assert named
        for path, name in named:
            assert name in names_in(path), f"{path}::{name}, named in docs/{page}, does not exist"


def test_the_page_on_failures_has_every_exit_code() -> None:
    def tree(kind: type[ElmanError]) -> set[int]:
        return {kind.exit_code}.union(*(tree(below) for below in kind.__subclasses__()))

    page = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8").split("## Exit codes")[1]
    assert tree(ElmanError) <= {int(code) for code in re.findall(r"^\| (\d+) \|", page, flags=re.MULTILINE)}
