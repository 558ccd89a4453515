from pathlib import Path

import numpy as np
import pytest

from elman.errors import ArtifactError, TrackingError
from elman.reporting.comparing.locate import read_named
from elman.tracking.evaluations import fetch_evaluation
from elman.tracking.tracker import Tracker
from tests.helpers.scores import classifier_scores, write_scores


def test_a_run_gives_all_its_seeds_and_a_seeds_run_its_own(tracker: Tracker, root: Path, tmp_path: Path) -> None:
    folder = write_scores(tmp_path / "gru", classifier_scores(np.eye(2, 6) == 0), seeds=(4, 9))
    with tracker.parent_run(task="classifier", cell="gru", params={}) as parent:
        with parent.child_run(seed=9, params={}) as child:
            pass
        parent.log_artifact(folder, "evaluation")
    [[whole, single]] = read_named([parent.run_id, child.run_id], reports=tmp_path, root=root)
    assert (whole.seeds, single.seeds) == ((4, 9), (9,))
    assert np.array_equal(single.predicted[0], whole.predicted[1])


def test_a_run_without_scores_and_an_unknown_run_are_refused(tracker: Tracker, root: Path, tmp_path: Path) -> None:
    with tracker.parent_run(task="classifier", cell="gru", params={}) as parent:
        pass
    with pytest.raises(ArtifactError, match="has no scores"):
        fetch_evaluation(parent.run_id, root=root, into=tmp_path)
    with pytest.raises(TrackingError, match="not found"):
        fetch_evaluation("0" * 32, root=root, into=tmp_path)
