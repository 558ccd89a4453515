from pathlib import Path

import pytest

from elman.reporting.inputs import read_inputs
from elman.reporting.sections.surprise import surprise_section


@pytest.fixture
def inputs(reports: Path):
    data = reports.parent / "data"
    return read_inputs(
        reports=reports,
        task="language_model",
        cells=["simple_rnn", "lstm", "gru"],
        dataset="reuters-r8",
        settings={},
        prepared=data / "prepared" / "summary.json",
        encoded=data / "encoded" / "summary.json",
        root=reports,
    )


def test_the_documents_are_those_of_the_best_cell(inputs) -> None:
    page = surprise_section(inputs)
    assert "odd document number 0 of gru" in page
    assert "20 documents" in page
    assert "of lstm" not in page
    assert "test.tsv row 64" in page


def test_a_cell_without_a_finite_measure_is_not_the_best(inputs) -> None:
    for row in inputs.comparison["rows"]:
        if row["name"] == "gru":
            for values in row["measures"].values():
                values["mean"] = None
    assert "odd document number 0 of lstm" in surprise_section(inputs)


def test_where_every_document_is_short_there_is_no_table(inputs) -> None:
    inputs.surprise["gru"]["documents"].clear()
    page = surprise_section(inputs)
    assert "<table" not in page
    assert page.count("<svg") == 2
