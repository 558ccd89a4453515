"""The README's two examples of own data: only the `dataset` section of params.yaml differs from the project's own."""

import csv
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from elman.artifacts import read_json, read_table
from elman.config import Params, parse_params
from elman.data.inspection import inspect
from elman.data.prepare import prepare

PARAMS = Path("params.yaml")

REVIEWS = """\
path: mydata/reviews.csv
tasks: [classifier, language_model]
text_column: review
label_column: sentiment
valid_fraction: 0.2
test_fraction: 0.2
"""
TALES = """\
path: mydata/tales.txt
tasks: [language_model]
format: blocks
label_column: null
encoding: auto
"""


def params_with(dataset: str) -> Params:
    """The project's params.yaml with another `dataset` section."""
    yaml = YAML(typ="safe", pure=True)
    sections: dict[str, Any] = yaml.load(PARAMS.read_text(encoding="utf-8"))
    return parse_params({**sections, "dataset": yaml.load(dataset)})


def texts(split: str) -> list[str]:
    return read_table(Path("data/prepared") / f"{split}.parquet")["text"].to_pylist()


def test_reviews_in_a_csv_file_with_own_column_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    params = params_with(REVIEWS)
    monkeypatch.chdir(tmp_path)
    Path("mydata").mkdir()
    with Path("mydata/reviews.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "review", "sentiment"])
        for number in range(100):
            writer.writerow([number, f"Good story {number}, well told", "positive"])
            writer.writerow([number, f'Two hours\nthat "{number}" will not give back', "negative"])
    found = inspect(dataset=params.dataset)
    assert found.labels == {"positive": 100, "negative": 100}
    summary = prepare(dataset=params.dataset, cleaning=params.prepare, out=Path("data/prepared"))
    assert (summary["rows_used"], summary["rows_rejected"]) == (200, 0)
    assert read_json(Path("data/prepared/labels.json"))["labels"] == ["negative", "positive"]
    assert all(20 < len(texts(split)) < 60 for split in ("valid", "test"))
    every = {text for split in ("train", "valid", "test") for text in texts(split)}
    assert {"Good story 7, well told", 'Two hours that "7" will not give back'} <= every


def test_plain_text_without_labels_for_language_modelling_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    params = params_with(TALES)
    monkeypatch.chdir(tmp_path)
    Path("mydata").mkdir()
    tales = [f"Once upon a time\nthere was a miller, and tale {number} is his.\n" for number in range(100)]
    Path("mydata/tales.txt").write_text("\n".join(tales), encoding="utf-8")
    summary = prepare(dataset=params.dataset, cleaning=params.prepare, out=Path("data/prepared"))
    assert (summary["rows_used"], summary["rows_rejected"], summary["encoding"]) == (100, 0, "utf-8")
    assert read_json(Path("data/prepared/labels.json"))["labels"] == []
    every = {text for split in ("train", "valid", "test") for text in texts(split)}
    assert every == {" ".join(tale.split()) for tale in tales}


@pytest.mark.parametrize("example", [REVIEWS, TALES])
def test_readme_shows_the_examples_as_they_are_tested(example: str) -> None:
    readme = Path("README.md").read_text(encoding="utf-8")
    assert "dataset:\n" + "".join(f"  {line}\n" for line in example.splitlines()) in readme
