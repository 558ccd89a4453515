from pathlib import Path

import pytest

from elman.reporting.comparison import build_comparison
from tests.helpers.reports import write_reports

CELLS = ["simple_rnn", "lstm", "gru"]


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    return write_reports(tmp_path)


@pytest.fixture
def classifier(reports: Path):
    return build_comparison(reports=reports, task="classifier", cells=CELLS, dataset="reuters-r8", commit="ab12")


@pytest.fixture
def language_model(reports: Path):
    return build_comparison(reports=reports, task="language_model", cells=CELLS, dataset="reuters-r8", commit="ab12")
