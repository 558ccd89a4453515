"""What stands on disk between two processes of one training."""

from pathlib import Path

import keras
import numpy as np
import pytest

from elman.config import LanguageModelConfig
from elman.models.spec import ModelSpec
from elman.models.store import build_model
from elman.seeding import generator
from elman.training.checkpoint import Checkpoint, Progress, Runs
from elman.training.epoch_so_far import EpochSoFar
from elman.training.gradients import make_optimizer
from elman.training.loop import fit
from elman.training.objectives import LanguageModelObjective
from tests.helpers.encoded_documents import make_documents

CONFIG = LanguageModelConfig(
    embedding_dim=5, units=6, num_layers=2, learning_rate=0.3, epochs=5, batch_size=3, window_length=4, dropout=0.3,
    word_dropout=0.2, global_clipnorm=0.5, state="stream", schedule="plateau", early_stopping_patience=2,
)  # fmt: skip
SPEC = ModelSpec(
    task="language_model", cell="lstm", vocab_size=200, embedding_dim=5, units=6, num_layers=2, dropout=0.3,
    word_dropout=0.2, seed=4,
)  # fmt: skip
PROGRESS = Progress(
    epochs_done=1,
    history=[{"train/loss": 0.1 + 0.2}],
    best_epoch=0,
    best_value=1 / 3,
    epochs_since_best=0,
    schedule={},
    finished=False,
)


class Killed(BaseException):
    """Stands for the end of a process."""


class KillAt(keras.callbacks.Callback):
    """Ends training before the given step, counted over all epochs of this process."""

    def __init__(self, step: int) -> None:
        super().__init__()
        self._left = step

    def on_train_batch_begin(self, batch, logs=None):
        self._left -= 1
        if self._left < 0:
            raise Killed


def objective() -> LanguageModelObjective:
    keras.utils.set_random_seed(8)
    random = generator(2, "documents")
    train, valid = (make_documents(random.integers(2, 12, count).tolist()) for count in (14, 5))
    return LanguageModelObjective(build_model(SPEC), CONFIG, train, valid, seed=4)


def small_save(folder: Path, *, value: float, so_far: EpochSoFar | None = None) -> tuple[Checkpoint, keras.Model]:
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.set_weights([np.full((3, 2), value, np.float32), np.arange(2, dtype=np.float32)])
    optimizer = make_optimizer(CONFIG)
    optimizer.build(model.trainable_variables)
    checkpoint = Checkpoint(folder, "key")
    checkpoint.save(model, optimizer, model.get_weights(), PROGRESS, so_far or EpochSoFar())
    return checkpoint, model


def load_value(folder: Path) -> tuple[float, Checkpoint, EpochSoFar] | None:
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    optimizer = make_optimizer(CONFIG)
    optimizer.build(model.trainable_variables)
    checkpoint = Checkpoint(folder, "key")
    found = checkpoint.load(model, optimizer)
    if found is None:
        return None
    best, progress, so_far = found
    assert progress == PROGRESS, "floats come back as they were"
    np.testing.assert_array_equal(best[0], model.get_weights()[0])
    return float(model.get_weights()[0][0, 0]), checkpoint, so_far


def test_a_training_killed_again_and_again_at_any_step_ends_with_the_weights_of_an_undisturbed_one(tmp_path):
    # Carried state, dropout, word dropout, plateau schedule and early stopping: all that could be lost.
    whole = objective()
    expected = fit(whole, CONFIG)
    random = generator(6, "kills")
    kills = 0
    while True:
        resumed = objective()
        callbacks = [KillAt(int(random.integers(1, 12)))]
        try:
            fitted = fit(resumed, CONFIG, checkpoint=Checkpoint(tmp_path, "key", minutes=0), callbacks=callbacks)
            break
        except Killed:
            kills += 1
    assert kills >= 3
    for ours, theirs in zip(resumed.model.get_weights(), whole.model.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert fitted.best_epoch == expected.best_epoch
    timing = ("train/seconds", "train/tokens_per_second")
    for ours, theirs in zip(fitted.history, expected.history, strict=True):
        assert {k: v for k, v in ours.items() if k not in timing} == {
            k: v for k, v in theirs.items() if k not in timing
        }


def test_two_states_are_kept_and_the_newest_is_read(tmp_path):
    for value in (1.0, 2.0, 3.0):
        small_save(tmp_path, value=value)
    assert len(list(tmp_path.iterdir())) == 2
    assert load_value(tmp_path)[0] == 3.0


@pytest.mark.parametrize("damage", ["half", "one byte", "empty"])
def test_a_damaged_newest_state_is_left_out_for_the_one_before(tmp_path, damage):
    for value in (1.0, 2.0):
        small_save(tmp_path, value=value)
    newest = max(tmp_path.iterdir())
    data = newest.read_bytes()
    changed = bytes([data[200] ^ 1])
    newest.write_bytes(
        {"half": data[: len(data) // 2], "one byte": data[:200] + changed + data[201:], "empty": b""}[damage]
    )
    value, checkpoint, _ = load_value(tmp_path)
    assert value == 1.0
    assert checkpoint.damaged == [newest]
    assert not newest.exists()


def test_with_all_states_damaged_training_starts_anew(tmp_path):
    small_save(tmp_path, value=1.0)
    next(tmp_path.iterdir()).write_bytes(b"PK\x03\x04 half")
    assert load_value(tmp_path) is None


def test_a_state_that_was_stopped_before_it_had_its_name_is_not_read(tmp_path):
    small_save(tmp_path, value=1.0)
    (tmp_path / "key.npz").write_bytes(max(tmp_path.iterdir()).read_bytes())
    assert load_value(tmp_path)[0] == 1.0


def test_the_epoch_that_is_going_on_comes_back_with_its_carried_state_in_its_own_type(tmp_path):
    state = (np.array([[0.1, -0.7]], np.float32), np.array([[1.5, 2.5]]).astype("bfloat16"))
    so_far = EpochSoFar(steps=3, tokens=17, nll_sum=0.1 + 0.2, count=15, norms=[1 / 3, 2e-7], skipped=1, state=state)
    small_save(tmp_path, value=1.0, so_far=so_far)
    found = load_value(tmp_path)[2]
    assert found.counters() == so_far.counters()
    for ours, theirs in zip(found.state, state, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def test_a_state_is_due_when_the_minutes_have_passed(tmp_path, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    checkpoint = Checkpoint(tmp_path, "key", minutes=2.0)
    assert not checkpoint.due
    clock[0] += 120.0
    assert checkpoint.due
    assert Checkpoint(tmp_path, "key", minutes=0.0).due


def test_where_a_training_is_recorded_is_known_before_its_first_state_and_only_for_its_key(tmp_path):
    Checkpoint(tmp_path, "key").record(Runs("child", "parent"))
    assert Checkpoint(tmp_path, "key").runs() == Runs("child", "parent")
    other = Checkpoint(tmp_path, "other")
    assert other.replaced
    assert other.runs() is None
