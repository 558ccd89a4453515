from pathlib import Path

import pytest

from elman.reporting.cell_figures import write_cell_figures


@pytest.mark.parametrize(("task", "names"), [("classifier", {"curves", "confusion"}), ("language_model", {"curves"})])
def test_a_cell_has_figures_of_its_own(reports: Path, task: str, names: set[str]) -> None:
    folder = reports / task / "cells" / "gru"
    write_cell_figures(folder, task=task, cell="gru")
    assert {path.stem for path in (folder / "figures").iterdir()} == names
