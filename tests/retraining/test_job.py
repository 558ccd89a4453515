import errno
import fcntl
import json
import re
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from elman.artifacts import read_json
from elman.config import load_params
from elman.data.tokenizer import Tokenizer
from elman.errors import StageError, TrackingError
from elman.retraining import job
from elman.retraining.frozen import open_frozen
from elman.retraining.state import read_state
from tests.helpers.retraining import Checkout, rows


def files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if ".git" not in path.parts}


def test_the_first_run_promotes_and_leaves_all_that_the_next_one_needs(checkout):
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code, outcome.stage) == ("promoted", 0, None), outcome.message
    assert checkout.registry.aliases == {"champion": 1}
    assert checkout.decisions == ["promoted"]
    state, _ = read_state(checkout.places.state)
    assert state.accepted == state.trained.snapshot == outcome.facts["input"]
    assert state.pending is None
    assert state.last_success == checkout.now
    frozen = open_frozen(checkout.places.frozen)
    assert 150 < frozen.documents < 210
    version = checkout.registry.version("champion")
    assert version.tags["elman.commit"] == outcome.facts["commit"]
    assert version.tags["elman.frozen"] == frozen.sha256
    report = read_json(Path(outcome.facts["report"]))
    line = json.loads(outcome.line())
    assert {name: report[name] for name in ("result", "exit_code", "gate")} == {
        name: line[name] for name in ("result", "exit_code", "gate")
    }
    assert line["challenger"] == 1
    assert "# promoted" in Path(outcome.facts["report"]).with_suffix(".md").read_text()


def test_the_same_input_is_not_trained_on_again_unless_that_is_asked_for(checkout):
    checkout.night()
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code) == ("nothing_to_do", 11)
    assert len(checkout.trainings) == 1
    assert checkout.decisions == ["promoted", "nothing_to_do"]
    outcome = checkout.night(force=True)
    assert outcome.result == "not_promoted", "the same data: another champion has to be better by more than the margin"
    assert len(checkout.trainings) == 2


def test_a_few_new_rows_are_no_reason_and_many_are(checkout):
    checkout.night()
    checkout.append(40, seed=2)
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code) == ("nothing_to_do", 11)
    assert outcome.facts["policy"]["new_rows"] == 40
    assert set(outcome.facts["drift"]["measures"]) >= {"surprise", "length", "label_mix"}
    checkout.append(70, seed=3)
    checkout.next_accuracy = 0.96
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code) == ("promoted", 0), outcome.message
    assert outcome.facts["policy"]["new_rows"] == 110
    assert checkout.registry.aliases == {"champion": 2, "previous": 1}


def test_labels_and_tokenizer_of_the_champion_are_kept(checkout):
    checkout.night()
    tokenizer = Tokenizer.load(checkout.registry.folder / "1" / "tokenizer")
    checkout.append(120, seed=2)
    outcome = checkout.night()
    workspace = checkout.places.work / checkout.trainings[-1]
    params = (workspace / "params.yaml").read_text()
    kept = re.search(r"^  keep: (kept/\w+)$", params, flags=re.MULTILINE)[1]
    assert Tokenizer.load(workspace / kept).vocab_size == tokenizer.vocab_size
    assert outcome.facts["coverage"] > 0.98
    assert "path: input/reviews.csv" in params
    assert read_json(workspace / "data" / "prepared" / "labels.json")["labels"] == ["bad", "good"]
    assert (workspace / "input" / "reviews.csv").read_bytes() == checkout.data.read_bytes()


def test_a_classifier_that_starts_from_the_language_model_has_it_trained_in_its_workspace(checkout):
    pretrained = {"embedding_dim": 96, "units": 96, "bidirectional": False, "pretrain": "language_model"}
    checkout.write_params(dataset={"tasks": ["classifier", "language_model"]}, classifier=pretrained)
    checkout.commit("start from the language model")
    assert checkout.night().exit_code == 0
    params = load_params(checkout.places.work / checkout.trainings[-1] / "params.yaml")
    assert params.dataset.tasks == ("language_model", "classifier")


def test_a_tokenizer_that_does_not_know_the_new_text_is_trained_anew(checkout):
    checkout.night()
    with checkout.data.open("a") as file:
        file.writelines(f"добрый день {place} раз,good\nплохой день {place} раз,bad\n" for place in range(80))
    outcome = checkout.night()
    assert outcome.facts["coverage"] < 0.9
    assert any("trained anew" in note for note in outcome.facts["notes"])
    assert "keep: null" in (checkout.places.work / checkout.trainings[-1] / "params.yaml").read_text()
    assert "drift" in outcome.facts["reasons"][-1]


def test_a_few_rows_of_changed_text_are_no_reason_and_half_of_the_rows_that_are_enough_are(checkout):
    checkout.night()
    texts = [line.split(",")[0] for line in rows(120, seed=2)]
    changed = [f"{one} {other},good\n" for one, other in zip(texts[:60], texts[60:], strict=True)]  # twice as long
    outcomes = []
    for part in (changed[:30], changed[30:]):
        with checkout.data.open("a") as file:
            file.writelines(part)
        outcomes.append(checkout.night())
    assert [len(outcome.facts["drift"]["alarms"]) > 0 for outcome in outcomes] == [True, True]
    assert [outcome.exit_code for outcome in outcomes] == [11, 0]
    assert "drift, which is a reason from 50 new rows on (retraining.min_drift_rows)" in outcomes[0].message
    assert [reason.split(":")[0] for reason in outcomes[1].facts["reasons"]] == ["drift"]


def test_a_worse_model_is_registered_but_not_promoted_and_not_trained_again(checkout):
    checkout.night()
    checkout.append(150, seed=2)
    checkout.next_accuracy = 0.7
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code) == ("not_promoted", 10)
    assert checkout.registry.aliases == {"champion": 1}
    assert len(checkout.registry.versions()) == 2
    assert checkout.night().result == "nothing_to_do"
    checkout.append(60, seed=3)
    outcome = checkout.night()
    assert outcome.facts["policy"]["new_rows"] == 60, "since the last training, whatever came of it"
    assert outcome.result == "nothing_to_do"


def test_age_is_a_reason_once_and_counts_from_the_last_training(checkout):
    checkout.night()
    checkout.append(5, seed=2)
    checkout.now += timedelta(days=40)
    checkout.next_accuracy = 0.7
    outcome = checkout.night()
    assert outcome.exit_code == 10
    assert "days old" in outcome.facts["reasons"][0]
    checkout.append(5, seed=3)
    assert checkout.night().exit_code == 11


def test_a_second_job_says_busy_and_who_is_at_work(checkout):
    checkout.places.lock.parent.mkdir()
    with checkout.places.lock.open("w") as file:
        file.write('{"pid": 77, "host": "here", "started": "2026-11-02"}')
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        outcome = checkout.night()
    assert (outcome.result, outcome.exit_code, outcome.stage) == ("busy", 20, "lock")
    assert "process 77 on here" in outcome.message
    assert not checkout.places.base.exists(), "who does not hold the lock writes nothing"
    assert checkout.night().exit_code == 0


def test_input_that_lost_half_of_its_rows_is_refused_until_a_person_accepts_it(checkout):
    checkout.night()
    lines = checkout.data.read_text().splitlines()
    checkout.data.write_text("\n".join(lines[:300]) + "\n")
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code, outcome.stage) == ("bad_data", 30, "validate")
    assert "299 usable rows" in outcome.message
    assert checkout.decisions[-1] == "bad_data"
    assert checkout.night().exit_code == 30, "what was refused is not what the next input is held against"
    assert checkout.night(accept_data=True).result in ("not_promoted", "nothing_to_do")
    assert len(checkout.trainings) == 1


def test_input_that_cannot_be_read_is_bad_data_too(checkout):
    checkout.data.write_text("txt,lbl\na,b\n")
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code, outcome.stage) == ("bad_data", 30, "prepare")
    checkout.data.unlink()
    assert (checkout.night().exit_code, checkout.trainings) == (30, [])


def test_documents_of_the_frozen_test_set_in_train_are_refused(checkout):
    checkout.night()
    checkout.write_params(dataset={"test_fraction": 0.1})
    checkout.commit("a smaller test split")
    outcome = checkout.night(force=True)
    assert (outcome.result, outcome.exit_code, outcome.stage) == ("bad_data", 30, "frozen")
    assert "of the frozen test set stand in train" in outcome.message


def test_as_long_as_nothing_was_scored_on_it_the_frozen_test_set_follows_the_settings(checkout):
    checkout.fail = StageError("diverged", stage="train@classifier-gru")
    checkout.night()
    before = open_frozen(checkout.places.frozen).documents
    checkout.fail = None
    checkout.write_params(dataset={"test_fraction": 0.2})
    checkout.commit("a smaller test split")
    assert checkout.night().result == "promoted"
    assert open_frozen(checkout.places.frozen).documents < before


def test_a_stage_that_fails_is_named_with_its_own_exit_code(checkout):
    for code, expected, result in ((40, 40, "failed"), (30, 30, "bad_data"), (50, 50, "unreachable")):
        checkout.fail = StageError("broken", stage="train@classifier-gru", exit_code=code)
        outcome = checkout.night()
        assert (outcome.exit_code, outcome.result, outcome.stage) == (expected, result, "train@classifier-gru")
    checkout.fail = ValueError("who would have thought")
    outcome = checkout.night()
    assert (outcome.exit_code, outcome.stage) == (40, "pipeline")
    assert "ValueError: who would have thought" in outcome.message
    assert len(set(checkout.trainings)) == 1, "the same input and commit: the same workspace, where work goes on"
    assert checkout.registry.aliases == {}
    assert read_state(checkout.places.state)[0].last_success is None


def test_a_store_that_is_away_is_found_out_before_any_work_and_forgets_nothing(checkout):
    checkout.night()
    before = checkout.places.state.read_text()
    checkout.append(200, seed=2)
    checkout.store_error = TrackingError("no connection")
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code, outcome.stage) == ("unreachable", 50, "tracking")
    assert len(checkout.trainings) == 1
    assert json.loads(checkout.places.state.read_text()) == json.loads(before)
    checkout.store_error = None
    assert checkout.night().exit_code == 0


def test_a_dry_run_says_what_it_would_do_and_changes_nothing(checkout):
    before = files(checkout.root)
    outcome = checkout.night(dry_run=True)
    assert (outcome.result, outcome.exit_code) == ("would_train", 0)
    assert "there is no champion yet" in outcome.message
    assert files(checkout.root) == before
    checkout.night()
    before = files(checkout.root)
    assert checkout.night(dry_run=True).exit_code == 11
    checkout.append(30, seed=2)
    outcome = checkout.night(dry_run=True)
    assert (outcome.exit_code, outcome.facts["policy"]["new_rows"]) == (11, 30)
    checkout.data.write_text("\n".join(["text,label", *rows(10, seed=9)]) + "\n")
    assert checkout.night(dry_run=True).exit_code == 30
    assert {name: time for name, time in files(checkout.root).items() if "reviews" not in name} == {
        name: time for name, time in before.items() if "reviews" not in name
    }
    assert checkout.decisions == ["promoted"]


def test_a_run_that_is_asked_to_end_says_so_and_the_next_one_goes_on_with_its_input(checkout):
    checkout.fail = SystemExit(128 + signal.SIGTERM)
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code, outcome.stage) == ("interrupted", 143, "pipeline")
    taken = outcome.facts["input"]
    checkout.fail = None
    checkout.append(20, seed=2)
    outcome = checkout.night()
    assert (outcome.result, outcome.facts["input"]) == ("promoted", taken)
    assert len(set(checkout.trainings)) == 1
    outcome = checkout.night()
    assert outcome.facts["policy"]["new_rows"] == 20, "what came meanwhile is looked at in the night after"


def test_a_training_that_never_ends_is_given_up_for_new_input(checkout):
    checkout.fail = SystemExit(143)
    taken = [checkout.night().facts["input"]]
    checkout.append(20, seed=2)
    taken += [checkout.night().facts["input"] for _ in range(3)]
    assert taken[0] == taken[1] == taken[2] != taken[3]


def test_a_kill_between_promotion_and_report_promotes_once(checkout):
    checkout.fail_after_decision = KeyboardInterrupt()
    outcome = checkout.night()
    assert outcome.exit_code == 130
    assert checkout.registry.aliases == {"champion": 1}
    checkout.fail_after_decision = None
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code) == ("promoted", 0)
    assert len(checkout.registry.versions()) == len(checkout.trainings) == 1
    assert checkout.decisions == ["promoted", "promoted"], "the first one's run ended as FAILED"
    assert checkout.night().exit_code == 11


def test_a_champion_that_moved_since_the_comparison_stops_the_promotion(checkout):
    checkout.night()
    checkout.append(150, seed=2)
    checkout.registry.moved_by_another = 7
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code, outcome.stage) == ("unreachable", 50, "promote")
    assert checkout.registry.aliases == {"champion": 7}


def test_a_full_disk_at_the_end_is_no_success(checkout, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(job, "write_report", full)
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code, outcome.stage) == ("failed", 40, "report")
    assert "No space left on device" in outcome.message
    assert "promoted: version 1" in outcome.message
    assert json.loads(outcome.line())["exit_code"] == 40


def test_what_is_not_committed_is_not_used_and_that_is_said(checkout):
    checkout.write_params(retraining={"floor": 0.99})
    outcome = checkout.night()
    assert outcome.result == "promoted"
    assert any("not committed" in note for note in outcome.facts["notes"])
    checkout.commit("a floor")
    checkout.append(150, seed=2)
    assert checkout.night().result == "not_promoted"


def test_wrong_params_and_a_folder_without_git_are_refused(checkout, tmp_path):
    checkout.write_params(retraining={"task": "language_model"})
    checkout.commit("a task that is not trained")
    outcome = checkout.night()
    assert (outcome.result, outcome.exit_code) == ("refused", 2)
    assert "retraining.task: language_model is not one of" in outcome.message
    outcome = job.retrain(tmp_path, job.Options(), tools=checkout.tools)
    assert (outcome.exit_code, outcome.stage) == (2, "settings")


def test_disk_and_registry_stay_bounded_over_many_nights(checkout):
    checkout.write_params(retraining={"keep_nights": 3, "min_new_rows": 10})
    checkout.commit("keep little")
    checkout.night()
    checkout.next_accuracy = 0.7
    for night in range(2, 7):
        checkout.append(20, seed=night)
        checkout.next_accuracy -= 0.001  # another package each night
        assert checkout.night().exit_code == 10
    counts = {
        name: len([path for path in (checkout.places.base / name).iterdir() if path.is_dir()])
        for name in ("inputs", "prepared", "work")
    }
    assert counts == {"inputs": 4, "prepared": 2, "work": 2}, "the champion's is kept beside the last"
    assert len(list(checkout.places.reports.glob("*.json"))) == 3 + 1
    assert [version.number for version in checkout.registry.versions()] == [6, 5, 4, 1]
    assert len(checkout.forgotten) == 2
    assert open_frozen(checkout.places.frozen).documents > 150


def test_language_models_are_compared_in_bits_a_byte_and_drift_by_their_own_surprise(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    checkout = Checkout(tmp_path, monkeypatch, task="language_model")
    outcome = checkout.night()
    assert (outcome.result, outcome.facts["gate"]["measure"]) == ("promoted", "bits_per_byte"), outcome.message
    assert 0.5 < outcome.facts["gate"]["difference"] < 1.5, "a first language model has to beat the unigram model"
    checkout.append(60, seed=2)
    outcome = checkout.night()
    surprise = outcome.facts["drift"]["measures"]["surprise"]
    assert surprise["reference"] == pytest.approx(1.5 - 0.9, abs=0.05)
    assert outcome.result == "nothing_to_do"
    checkout.append(60, seed=3)
    checkout.next_accuracy = 0.7
    assert checkout.night().result == "not_promoted"
    checkout.append(120, seed=4)
    checkout.next_accuracy = 0.95
    assert checkout.night().result == "promoted"
    assert checkout.registry.version("champion").tags["elman.measure"] == "bits_per_byte"
