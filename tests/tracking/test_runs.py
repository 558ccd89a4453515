import math
from pathlib import Path

import pytest

from elman.tracking.runs import Run
from elman.tracking.tracker import Tracker


@pytest.fixture
def run(tracker: Tracker) -> Run:
    return Run(tracker.client, tracker.uri, tracker.create("lstm", {}))


def _data(tracker: Tracker, run: Run):
    return tracker.client.get_run(run.run_id).data


def test_parameters_are_written_as_params_yaml_writes_them(tracker: Tracker, run: Run) -> None:
    run.log_params({"learning_rate": 3e-3, "clipnorm": None, "tie": True, "seeds": (1, 2), "optimizer": "adam"})
    expected = {"learning_rate": "0.003", "clipnorm": "null", "tie": "true", "seeds": "[1, 2]", "optimizer": "adam"}
    assert _data(tracker, run).params == expected


def test_a_parameter_with_another_value_keeps_both(tracker: Tracker, run: Run) -> None:
    for value in (0.1, 0.1, 0.2, 0.2, 0.3):
        run.log_params({"dropout": value, "units": 8})
    data = _data(tracker, run)
    assert data.params == {"dropout": "0.1", "units": "8"}
    assert data.tags["changed.dropout"] == "0.1 -> 0.2 -> 0.3"
    assert "changed.units" not in data.tags


def test_a_long_parameter_goes_to_a_file_and_a_second_one_to_another(
    tracker: Tracker, run: Run, tmp_path: Path
) -> None:
    long = ["reuters " * 800, "corn " * 1600]
    for text in long:
        run.log_params({"labels": text})
    data = _data(tracker, run)
    files = [item.path for item in tracker.client.list_artifacts(run.run_id, "params")]
    assert len(files) == 2
    assert data.params["labels"].split("see ")[1] in files
    assert data.tags["changed.labels"].split("see ")[-1] in files
    texts = {Path(tracker.client.download_artifacts(run.run_id, file, str(tmp_path))).read_text() for file in files}
    assert texts == set(long)


def test_more_parameters_and_metrics_than_a_request_takes_are_all_kept(tracker: Tracker, run: Run) -> None:
    run.log_params({f"p{index}": index for index in range(250)})
    run.log_metrics({f"train_m{index}": index for index in range(1100)})
    data = _data(tracker, run)
    assert len(data.params) == 250
    assert len(data.metrics) == 1100


def test_epochs_become_steps_in_named_groups(tracker: Tracker, run: Run) -> None:
    run.log_epoch(1, {"train_loss": 2.5, "valid_loss": 2.25, "gradient_norm": 0.5})
    run.log_epoch(2, {"train_loss": 1.5, "valid_loss": 1.75, "gradient_norm": None})
    history = tracker.client.get_metric_history(run.run_id, "valid/loss")
    assert [(point.step, point.value) for point in history] == [(1, 2.25), (2, 1.75)]
    assert _data(tracker, run).metrics == {"train/loss": 1.5, "valid/loss": 1.75, "train/gradient_norm": 0.5}


def test_only_finite_numbers_are_recorded_and_the_others_are_named_and_counted(tracker: Tracker, run: Run) -> None:
    run.log_epoch(1, {"train_loss": math.nan, "valid_loss": 1.0})
    run.log_epoch(2, {"train_loss": math.inf, "valid_loss": -math.inf})
    data = _data(tracker, run)
    assert data.metrics == {"valid/loss": 1.0}
    assert data.tags["non_finite"] == "train/loss, valid/loss"
    assert data.tags["non_finite_count"] == "3"


def test_measures_carry_their_interval_where_there_is_one(tracker: Tracker, run: Run) -> None:
    accuracy = {"mean": 0.96, "low": 0.95, "high": 0.97, "per_seed": [0.95, 0.97]}
    one_seed, count = {"mean": 0.9, "low": None, "high": None}, {"mean": 70.0, "low": 70.0, "high": 70.0}
    unknown = {"mean": None, "low": None, "high": None}
    measures = {"accuracy": accuracy, "macro_f1": one_seed, "num_tokens": count, "perplexity": unknown}
    run.log_measures("test", measures)
    expected = {
        "test/num_tokens": 70.0,
        "test/accuracy": 0.96,
        "test/accuracy_low": 0.95,
        "test/accuracy_high": 0.97,
        "test/macro_f1": 0.9,
    }
    assert _data(tracker, run).metrics == expected


def test_a_second_evaluation_replaces_the_shown_value_and_keeps_the_first(tracker: Tracker, run: Run) -> None:
    for value in (0.95, 0.93):
        run.log_measures("test", {"accuracy": {"mean": value}})
    history = tracker.client.get_metric_history(run.run_id, "test/accuracy")
    assert sorted(point.value for point in history) == [0.93, 0.95]
    assert _data(tracker, run).metrics["test/accuracy"] == 0.93


def test_files_folders_texts_and_figures_are_kept(tracker: Tracker, run: Run, tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.json").write_text("{}")
    (tmp_path / "plan.json").write_text("{}")
    run.log_artifact(tmp_path / "plan.json")
    run.log_artifact(tmp_path / "model", "model")
    run.log_text("plan", "plan.txt")
    run.log_figure(Figure(), "figures/curves.png")
    files = {item.path for item in tracker.client.list_artifacts(run.run_id)}
    assert files == {"plan.json", "plan.txt", "model", "figures"}
    assert [item.path for item in tracker.client.list_artifacts(run.run_id, "model")] == ["model/model.json"]


def test_a_long_tag_is_cut(tracker: Tracker, run: Run) -> None:
    run.set_tags({"note": "x" * 9000})
    assert run.tags["note"] == "x" * 5000
