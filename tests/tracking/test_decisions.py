import pytest

from elman.errors import DataError
from elman.tracking.decisions import decision_run, decisions_name, forget_training, registry_is_there
from elman.tracking.tracker import Tracker


def test_a_decision_is_a_run_of_its_own_experiment_and_fails_with_what_it_carries_out(root, tmp_path):
    tags = {"result": "promoted", "reasons": "better by 0.02", "version": 3}
    with decision_run(root, "reviews classifier", title="promoted 3", tags=tags, params={"rule": "superior"}) as run:
        run.log_metrics({"gate/difference": 0.02, "gate/champion_value": None})
        run.log_text("{}", "decision.json")
    with pytest.raises(DataError), decision_run(root, "reviews classifier", title="x", tags=tags, params={}):
        raise DataError("not carried out")
    with Tracker.open(root=root, experiment="reviews classifier") as tracker:
        client = tracker.client
        experiment = client.get_experiment_by_name(decisions_name("reviews classifier"))
        assert experiment.experiment_id != tracker.experiment_id
        failed, done = client.search_runs([experiment.experiment_id], order_by=["attributes.start_time DESC"])
    assert (done.info.status, failed.info.status) == ("FINISHED", "FAILED")
    assert done.data.tags["elman.level"] == "decision"
    assert {name: done.data.tags[name] for name in tags} == {name: str(value) for name, value in tags.items()}
    assert done.data.params == {"rule": "superior"}
    assert done.data.metrics == {"gate/difference": 0.02}
    assert not registry_is_there(tmp_path, "reviews classifier")
    assert not (tmp_path / "mlruns" / "mlflow.db").exists()
    assert not registry_is_there(root, "reviews classifier")
    client.create_registered_model("reviews classifier")
    assert registry_is_there(root, "reviews classifier")


def test_a_training_that_is_forgotten_takes_its_files_and_its_other_seeds_along(root, tracker, tmp_path):
    (tmp_path / "model.keras").write_bytes(b"weights")
    ids = []
    for cell in ("gru", "lstm"):
        with tracker.parent_run(task="classifier", cell=cell, seeds=[1, 2], params={}) as parent:
            for seed in (1, 2):
                with parent.child_run(seed=seed, params={}) as run:
                    run.log_artifact(tmp_path / "model.keras", "model")
                ids.append(run.run_id)
    assert len(list((root / "mlruns").rglob("model.keras"))) == 4
    forget_training(root, ids[1])
    assert len(list((root / "mlruns").rglob("model.keras"))) == 2
    left = tracker.client.search_runs([tracker.experiment_id])
    assert {run.info.run_name for run in left} == {"lstm", "lstm seed 1", "lstm seed 2"}
    forget_training(root, ids[1])
