import pyarrow.parquet as pq
import pytest

from elman.errors import ArtifactError
from elman.retraining.frozen import freeze, open_frozen
from elman.retraining.state import State, read_state, write_state


def test_a_state_that_cannot_be_read_is_set_aside_and_that_is_said(tmp_path):
    path = tmp_path / "state.json"
    write_state(path, State(accepted="abc"))
    assert read_state(path) == (State(accepted="abc"), "")
    path.write_text(path.read_text()[:20])
    assert read_state(path, mend=False)[0] == State()
    assert path.exists()
    state, said = read_state(path)
    assert state == State()
    assert "state.damaged.json" in said
    assert not path.exists()


def test_a_run_after_a_damaged_state_still_has_champion_and_frozen_test_set(checkout):
    checkout.night()
    frozen = open_frozen(checkout.places.frozen).sha256
    checkout.places.state.write_text("{")
    checkout.next_accuracy = 0.5
    outcome = checkout.night()
    assert outcome.result == "nothing_to_do"
    assert any("a new one was begun" in note for note in outcome.facts["notes"])
    checkout.append(150, seed=2)
    assert checkout.night().result == "not_promoted"
    assert open_frozen(checkout.places.frozen).sha256 == frozen


def test_the_frozen_test_set_stays_and_a_changed_one_is_refused(checkout):
    checkout.night()
    folder = checkout.places.frozen
    before = open_frozen(folder)
    other = checkout.places.prepared / before.snapshot / "valid.parquet"
    assert freeze(other, folder, snapshot="another") == before
    pq.write_table(pq.read_table(folder / "test.parquet").slice(1), folder / "test.parquet")
    with pytest.raises(ArtifactError, match="not the test set that was frozen"):
        open_frozen(folder)
    checkout.append(150, seed=2)
    outcome = checkout.night()
    assert (outcome.exit_code, outcome.stage) == (40, "frozen")
    assert len(checkout.trainings) == 1
