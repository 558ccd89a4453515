import io
from pathlib import Path

import pytest
from rich.console import Console

from elman.artifacts import write_json
from elman.errors import ArtifactError
from elman.reporting.comparison import build_comparison
from elman.reporting.table import PIPE_WIDTH, print_tables
from tests.helpers.reports import measure, write_reports

CELLS = ["simple_rnn", "lstm", "gru"]
TASKS = ["classifier", "language_model"]


def _write(root: Path, *, seeds: list[int] | None = None, dataset: str = "reuters-r8") -> Path:
    reports = write_reports(root, seeds=seeds)
    for task in TASKS:
        comparison = build_comparison(reports=reports, task=task, cells=CELLS, dataset=dataset)
        write_json(reports / task / "comparison.json", comparison)
    return reports


def _terminal(width: int) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)


def test_away_from_a_terminal_each_row_is_one_line_of_ascii(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    print_tables(_write(tmp_path), TASKS)
    output = capsys.readouterr().out
    assert output.isascii()
    rows = [line for line in output.splitlines() if line.startswith("|") and "+-" in line]
    cells = ["SimpleRNN", "LSTM", "GRU"]
    names = [line.split("|")[1].strip() for line in rows]
    assert names == [*cells, *cells, *(f"{cell} + Kneser-Ney" for cell in cells)]
    assert max(len(line) for line in rows) <= PIPE_WIDTH


def test_the_baseline_stands_above_the_cells_with_all_that_was_asked_for(tmp_path: Path) -> None:
    console = _terminal(120)
    print_tables(_write(tmp_path), ["classifier"], console=console)
    lines = console.file.getvalue().splitlines()
    places = [
        next(i for i, line in enumerate(lines) if name in line) for name in ("Majority", "SimpleRNN", "LSTM", "GRU")
    ]
    assert places == sorted(places)
    row = lines[places[1]].split()
    assert (row[1], row[2], row[4]) == ("1,057,800", "3", "±")
    assert row[-2:] == ["51.0", "81,244"]
    assert any("95 % t interval over seeds" in line for line in lines)


@pytest.mark.parametrize("task", TASKS)
def test_a_terminal_of_110_columns_holds_every_row_on_one_line(tmp_path: Path, task: str) -> None:
    console = _terminal(110)
    print_tables(_write(tmp_path), [task], console=console)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 110
    rows = [line.split()[0] for line in lines if "±" in line and "seeds." not in line]
    assert rows == ["SimpleRNN", "LSTM", "GRU"] * (1 if task == "classifier" else 2)


def test_a_value_that_is_not_known_reads_so(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    reports = _write(tmp_path)
    comparison = build_comparison(reports=reports, task="language_model", cells=["gru"], dataset="x")
    comparison["rows"][1]["measures"]["perplexity"] = measure([None, 2.0, 3.0])
    comparison["rows"][1]["tokens_per_second"] = None
    write_json(reports / "language_model" / "comparison.json", comparison)
    print_tables(reports, ["language_model"])
    row = next(line for line in capsys.readouterr().out.splitlines() if "GRU" in line and "|" in line)
    cells = [cell.strip() for cell in row.split("|")]
    assert (cells[4], cells[-2]) == ("n/a", "n/a")


def test_one_seed_has_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    print_tables(_write(tmp_path, seeds=[7]), ["classifier"])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert not any("+-" in line for line in rows)


def test_a_name_with_brackets_is_printed_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    print_tables(_write(tmp_path, dataset="my[red]set"), ["classifier"])
    assert "my[red]set, classifier" in capsys.readouterr().out


def test_nothing_is_printed_when_a_comparison_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    reports = _write(tmp_path)
    (reports / "language_model" / "comparison.json").unlink()
    with pytest.raises(ArtifactError, match=r"language_model/comparison\.json: no such file"):
        print_tables(reports, TASKS)
    assert capsys.readouterr().out == ""
