import logging
import random
import subprocess
import sys
from pathlib import Path

import pytest

from elman.errors import TrackingError
from elman.tracking.store import open_client, shown, store_uri
from elman.tracking.tracker import Tracker, experiment_name


def test_the_store_is_the_same_from_two_folders(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for folder, seen in ((root, Path()), (root.parent, Path(root.name))):
        monkeypatch.chdir(folder)
        with Tracker.open(root=seen, experiment="folders") as tracker:
            found.append((tracker.uri, tracker.experiment_id))
    assert found[0] == found[1]
    assert found[0][0] == f"sqlite:///{root.resolve()}/mlruns/mlflow.db"
    assert not (root.parent / "mlruns").exists()


def test_the_environment_names_another_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")
    assert store_uri(tmp_path) == "http://127.0.0.1:5000"


@pytest.mark.parametrize("uri", ["ftp://me:secret@example.org/store", "file:///tmp/store"])
def test_a_store_that_mlflow_refuses_is_named_without_its_password(uri: str) -> None:
    with pytest.raises(TrackingError, match=rf"(?s){shown(uri)}.*MLFLOW_TRACKING_URI") as caught:
        open_client(uri)
    assert "secret" not in str(caught.value)


def test_a_server_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://user:secret@127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(TrackingError, match=r"http://127\.0\.0\.1:9: ") as caught:
        Tracker.open(root=tmp_path, experiment="x")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("sqlite:///mlruns/mlflow.db", "another file from every folder"),
        ("mlruns", "no address"),
        ("file:///srv/mlruns", "no address"),
        ("htp://me:secret@host", "no address"),
        ("http://", "names no server"),
        ("http://host/ --backdoor", "without spaces"),
        ("sqlite:////srv/a.db\n", "without spaces"),
    ],
)
def test_an_address_that_is_none_or_depends_on_the_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, message: str
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    with pytest.raises(TrackingError, match=message) as caught:
        store_uri(tmp_path)
    assert "secret" not in str(caught.value)


def test_passwords_are_not_shown() -> None:
    assert shown("https://me:secret@host/x") == "https://host/x"


def test_a_deleted_experiment_is_an_error_that_names_the_ways_out(root: Path) -> None:
    with Tracker.open(root=root, experiment="deleted") as tracker:
        tracker.client.delete_experiment(tracker.experiment_id)
    with pytest.raises(TrackingError, match=rf"'deleted'.*restore -x {tracker.experiment_id}.*mlflow gc"):
        Tracker.open(root=root, experiment="deleted")


def test_a_moved_checkout_is_refused_before_artifacts_land_in_the_old_place(root: Path, tmp_path: Path) -> None:
    Tracker.open(root=root, experiment="moved").close()
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db").write_bytes((root / "mlruns" / "mlflow.db").read_bytes())
    with pytest.raises(TrackingError, match=r"moved or copied.*`elman relocate`"):
        Tracker.open(root=tmp_path, experiment="moved")


def test_the_experiment_says_what_it_is_and_which_page_shows_it(root: Path) -> None:
    with Tracker.open(root=root, experiment=experiment_name("reuters-r8", "language_model")) as tracker:
        experiment = tracker.client.get_experiment(tracker.experiment_id)
    assert experiment.name == "reuters-r8 language model"
    assert experiment.tags["mlflow.experimentKind"] == "custom_model_development"
    assert "elman.level" in experiment.tags["mlflow.note.content"]
    assert experiment.artifact_location == (root.resolve() / "mlruns/artifacts/reuters-r8-language-model").as_uri()


def test_the_views_of_an_experiment_come_back_and_what_a_person_changed_stays(root: Path) -> None:
    with Tracker.open(root=root, experiment="views") as tracker:
        client, found = tracker.client, tracker.experiment_id
        client.delete_experiment_tag(found, "mlflow.sharedViewState.elman-cells")
        client.set_experiment_tag(found, "mlflow.note.content", "ours")
    with Tracker.open(root=root, experiment="views"):
        tags = client.get_experiment(found).tags
    assert tags["mlflow.note.content"] == "ours"
    assert "mlflow.sharedViewState.elman-cells" in tags


_EIGHT = """
import multiprocessing, random
from pathlib import Path
import mlflow.store.tracking.sqlalchemy_store  # once, and not in each of the eight
from elman.tracking.tracker import Tracker

def record(number, start):
    start.wait()
    values = random.Random(number)
    with Tracker.open(root=Path('.'), experiment='x') as tracker:
        with tracker.parent_run(task='classifier', cell=f'cell {number}', params={'number': number}) as run:
            for step in range(1, 11):
                run.log_epoch(step, {f'train_{name}': values.random() for name in 'abcde'})

fork = multiprocessing.get_context('fork')
start = fork.Barrier(8)
processes = [fork.Process(target=record, args=(number, start)) for number in range(8)]
for process in processes:
    process.start()
for process in processes:
    process.join()
print([process.exitcode for process in processes])
"""


def test_eight_processes_that_start_at_once_on_no_store_make_one_with_eight_runs_and_400_values(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _EIGHT], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == f"{[0] * 8}\n", done.stderr
    # Quiet, but for a machine so busy that one process waits 20 s for another's turn: it keeps its values then.
    said = [line for line in done.stderr.splitlines() if not ("locked" in line or "is back" in line)]
    assert said == []
    with Tracker.open(root=tmp_path, experiment="x") as tracker:
        runs = tracker.client.search_runs([tracker.experiment_id])
        assert sorted(run.data.params["number"] for run in runs) == list("01234567")
        assert {run.info.status for run in runs} == {"FINISHED"}
        for run in runs:
            drawn = random.Random(int(run.data.params["number"]))
            expected = [(step, name, drawn.random()) for step in range(1, 11) for name in "abcde"]
            found = [
                (point.step, name, point.value)
                for name in "abcde"
                for point in tracker.client.get_metric_history(run.info.run_id, f"train/{name}")
            ]
            assert sorted(found) == expected


def test_opening_sends_nothing_home() -> None:
    open_client("sqlite://")
    from mlflow.telemetry.utils import is_telemetry_disabled

    assert is_telemetry_disabled()
    assert logging.getLogger("mlflow").getEffectiveLevel() >= logging.WARNING
