from pathlib import Path

from elman.tracking.experiment import checkout_of, code_of


def test_a_retraining_records_in_the_store_of_its_checkout_and_names_the_commit_of_its_clone(tmp_path: Path) -> None:
    clone = tmp_path / "retraining" / "reviews-classifier" / "work" / "a1-b2"
    script = clone / "pipelines" / "train.py"
    assert checkout_of(script) == code_of(script) == clone, "folders that are only called alike"
    (tmp_path / "retraining" / "lock").parent.mkdir()
    (tmp_path / "retraining" / "lock").touch()
    assert (checkout_of(script), code_of(script)) == (tmp_path, clone)
    main = tmp_path / "pipelines" / "train.py"
    assert checkout_of(main) == code_of(main) == tmp_path
    queued = tmp_path / ".dvc" / "tmp" / "exps" / "standalone" / "x" / "pipelines" / "train.py"
    assert checkout_of(queued) == code_of(queued) == tmp_path
