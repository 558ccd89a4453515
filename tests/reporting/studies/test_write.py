import json

import pytest

from elman.artifacts import read_json
from elman.errors import ArtifactError
from elman.reporting.studies.tables import study_tables
from elman.reporting.studies.write import with_tables, write_study
from tests.helpers.stage_deps import ROOT
from tests.reporting.studies.test_tables import (
    agreement_result,
    gates_result,
    gradient_flow_result,
    regression_result,
)

PAGES = sorted((ROOT / "docs" / "studies").glob("*.json"))
PAGE = "# Study\n\n<!-- tables: written by the command -->\nold\n<!-- end of tables -->\n\nWhat is seen.\n"


@pytest.mark.parametrize(
    "result",
    [
        regression_result(),
        regression_result("reset"),
        agreement_result(),
        gates_result(),
        gradient_flow_result(trained=True),
        gradient_flow_result(trained=False),
    ],
    ids=lambda result: result["study"],
)
def test_a_study_writes_its_numbers_and_its_figure(tmp_path, result):
    write_study(result, tmp_path)
    assert json.loads((tmp_path / f"{result['study']}.json").read_text()) == result
    assert (tmp_path / f"{result['study']}.png").read_bytes().startswith(b"\x89PNG")


def test_the_tables_of_a_page_are_renewed_and_its_text_stays(tmp_path):
    (tmp_path / "adding.md").write_text(PAGE)
    write_study(regression_result(), tmp_path)
    page = (tmp_path / "adding.md").read_text()
    assert study_tables(regression_result()) in page
    assert "old" not in page
    assert page.startswith("# Study\n")
    assert page.endswith("\n\nWhat is seen.\n")


def test_a_page_without_marks_is_left():
    assert with_tables("# Mine\n", regression_result()) == "# Mine\n"


def test_a_number_that_is_not_finite_is_refused(tmp_path):
    result = regression_result() | {"seconds": float("nan")}
    with pytest.raises(ArtifactError, match="finite"):
        write_study(result, tmp_path)


@pytest.mark.parametrize("numbers", PAGES, ids=lambda path: path.stem)
def test_a_page_of_the_docs_shows_the_tables_of_its_numbers(numbers):
    page = numbers.with_suffix(".md").read_text()
    assert with_tables(page, read_json(numbers)) == page
    assert study_tables(read_json(numbers)) in page
    assert f"]({numbers.stem}.png)" in page
    assert numbers.with_suffix(".png").stat().st_size < 150_000
