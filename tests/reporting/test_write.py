import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from elman.artifacts import read_json, write_json
from elman.errors import ArtifactError
from elman.reporting.write import write_comparison
from tests.helpers.reports import write_reports

CELLS = ["simple_rnn", "lstm", "gru"]
SURPRISE = {"surprise_by_position", "surprise_by_train_count"}
PICTURES = {
    "classifier": {
        "accuracy",
        "macro_f1",
        *(f"{kind}_{cell}" for kind in ("curves", "confusion", "reliability") for cell in CELLS),
    },
    "language_model": {"perplexity", "bits_per_byte", *SURPRISE, *(f"curves_{cell}" for cell in CELLS)},
}


def _write(reports: Path, task: str, *, dataset: str = "reuters-r8", cells: list[str] = CELLS):
    data = reports.parent / "data"
    return write_comparison(
        reports=reports,
        task=task,
        cells=cells,
        dataset=dataset,
        settings={"units": 8},
        prepared=data / "prepared" / "summary.json",
        encoded=data / "encoded" / "summary.json",
        root=reports,
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both tasks' reports, made once: drawing takes seconds."""
    reports = write_reports(tmp_path_factory.mktemp("written"))
    for task in PICTURES:
        _write(reports, task)
    return reports


VOID = ("meta", "path", "use", "wbr")


class _Page(HTMLParser):
    """Collects the tags, what they refer to, and the text; checks that every tag that opens also closes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "use"):
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("task", ["classifier", "language_model"])
def test_one_call_writes_comparison_page_markdown_and_figures(written: Path, task: str) -> None:
    reports = written
    rows = read_json(reports / task / "comparison.json")["rows"]
    assert [row["name"] for row in rows if row["kind"] == "cell"] == CELLS
    figures = reports / task / "figures"
    assert {path.stem for path in figures.iterdir()} == PICTURES[task]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in figures.iterdir())
    for name in re.findall(r"\]\((.*?)\)", (reports / task / "report.md").read_text(encoding="utf-8")):
        assert (reports / task / name).is_file()


@pytest.mark.parametrize("task", ["classifier", "language_model"])
def test_the_page_is_whole_and_needs_nothing_besides_itself(written: Path, task: str) -> None:
    page = _Page()
    page.feed((written / task / "report.html").read_text(encoding="utf-8"))
    assert page.open == []
    assert all(link.startswith(("#", "data:")) for link in page.links)
    assert "script" not in page.tags
    assert page.tags.count("svg") == len(PICTURES[task])
    text = " ".join(page.text)
    for expected in ("GRU has the", "95 % t interval over seeds", "7,669 used", f"dvc repro compare@{task}"):
        assert expected in text


@pytest.mark.parametrize("task", ["classifier", "language_model"])
def test_what_the_numbers_rest_on_comes_first_after_the_verdict(written: Path, task: str) -> None:
    page = (written / task / "report.html").read_text(encoding="utf-8")
    assert re.findall("<h2>(.*?)</h2>", page)[:2] == ["Data", "Test results"]
    assert page.index('class="verdict"') < page.index("<h2>Data</h2>")
    markdown = (written / task / "report.md").read_text(encoding="utf-8")
    assert markdown.index("GRU has the") < markdown.index("7,669 used") < markdown.index("| model |")


def test_the_trials_of_a_search_stand_beside_the_cell_that_had_them(reports: Path) -> None:
    path = reports / "classifier" / "cells" / "gru" / "metrics.json"
    write_json(path, {**read_json(path), "tuning": {"trials": 23, "seconds": 600.0}})
    _write(reports, "classifier", cells=["lstm", "gru"])
    page = (reports / "classifier" / "report.html").read_text(encoding="utf-8")
    assert re.findall(r'<td data-label="tried settings">(.*?)</td>', page)[-2:] == ["1", "23"]
    markdown = (reports / "classifier" / "report.md").read_text(encoding="utf-8")
    assert re.search(r"\| GRU \|.* 23 \|", markdown)


def test_names_of_data_are_shown_and_never_run(reports: Path) -> None:
    path = reports / "classifier" / "cells" / "gru" / "per_class.json"
    classes = read_json(path)
    write_json(path, {**classes, "labels": ["<script>alert(1)</script>", *classes["labels"][1:]]})
    _write(reports, "classifier", dataset="<b>my</b> *set*|", cells=["gru"])
    page = (reports / "classifier" / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<b>" not in page
    markdown = (reports / "classifier" / "report.md").read_text(encoding="utf-8")
    assert r"\<b\>my\</b\> \*set\*\|" in markdown


def test_texts_of_documents_are_shown_and_never_run(reports: Path) -> None:
    path = reports / "language_model" / "cells" / "gru" / "surprise.json"
    surprise = read_json(path)
    surprise["documents"][0] |= {"text": "<script>alert(1)</script>", "source": "<b>.csv"}
    write_json(path, surprise)
    _write(reports, "language_model", cells=["gru"])
    page = (reports / "language_model" / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "<b>" not in page


def test_the_same_reports_give_the_same_bytes(written: Path) -> None:
    first = {path: path.read_bytes() for path in sorted((written / "language_model").rglob("*")) if path.is_file()}
    _write(written, "language_model")
    assert [path.name for path in first if path.read_bytes() != first[path]] == []


def test_figures_of_a_cell_that_is_no_longer_compared_go(reports: Path) -> None:
    _write(reports, "language_model", cells=["lstm"])
    _write(reports, "language_model", cells=["gru"])
    names = {path.stem for path in (reports / "language_model" / "figures").iterdir()}
    assert names == {"perplexity", "bits_per_byte", "curves_gru", *SURPRISE}


@pytest.mark.parametrize("name", ["metrics.json", "history.csv", "per_class.json"])
def test_nothing_is_written_when_a_report_is_missing(reports: Path, name: str) -> None:
    (reports / "classifier" / "cells" / "lstm" / name).unlink()
    with pytest.raises(ArtifactError, match=rf"lstm/{re.escape(name)}: no such file; run `dvc repro`"):
        _write(reports, "classifier")
    assert not (reports / "classifier" / "report.html").exists()
    assert not (reports / "classifier" / "comparison.json").exists()


@pytest.mark.parametrize("name", ["mixture.json", "surprise.json"])
def test_no_report_of_language_models_is_written_without_all_their_files(reports: Path, name: str) -> None:
    (reports / "language_model" / "cells" / "lstm" / name).unlink()
    with pytest.raises(ArtifactError, match=rf"lstm/{re.escape(name)}: no such file; run `dvc repro`"):
        _write(reports, "language_model")
    assert not (reports / "language_model" / "report.html").exists()


def test_a_table_of_classes_that_is_not_whole_is_refused_by_name(reports: Path) -> None:
    write_json(reports / "classifier" / "cells" / "gru" / "per_class.json", {"version": 1, "labels": ["acq"]})
    with pytest.raises(ArtifactError, match=r"gru/per_class\.json: lacks precision"):
        _write(reports, "classifier")
