"""The loop against a linear model, for which everything can be worked out."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from elman.config import TrainingConfig
from elman.errors import TrainingError
from elman.seeding import generator
from elman.training.checkpoint import Checkpoint
from elman.training.loop import fit
from elman.training.objectives import Batch


def config(**changes) -> TrainingConfig:
    base = {"embedding_dim": 4, "units": 4, "learning_rate": 0.05, "epochs": 6, "batch_size": 2, "schedule": "cosine"}
    return TrainingConfig(**base | changes)


class Line:
    """Least squares with dropout; batches are a function of the epoch."""

    def __init__(self, valid_losses=None, spoil=lambda epoch, index: 1.0):
        keras.utils.set_random_seed(3)
        self.model = keras.Sequential([keras.Input((3,)), keras.layers.Dropout(0.3, seed=5), keras.layers.Dense(1)])
        self.signature = [tf.TensorSpec((None, 3), tf.float32), tf.TensorSpec((None, 1), tf.float32), ()]
        self.tokens_per_epoch = 40
        self._valid_losses = valid_losses
        self._validated = 0
        self._spoil = spoil

    def batches(self, epoch: int) -> Iterator[Batch]:
        random = generator(1, "line", epoch)
        for index in range(10):
            x = random.normal(size=(4, 3)).astype("float32")
            y = (x @ np.array([[1.0], [-2.0], [0.5]], "float32")) * self._spoil(epoch, index)
            yield Batch((x, y.astype("float32")), 4)

    def first_state(self, batch):
        return ()

    def loss(self, x, y, state):
        return tf.reduce_sum((self.model(x, training=True) - y) ** 2), tf.shape(x)[0], state

    def validate(self) -> dict[str, float]:
        if self._valid_losses is not None:
            self._validated += 1
            return {"valid/loss": self._valid_losses[self._validated - 1]}
        return {"valid/loss": float(np.sum(self.model.get_weights()[0]))}


class StopProcess(BaseException):
    """Stands for a killed process."""


class KillIn(keras.callbacks.Callback):
    def __init__(self, epoch):
        super().__init__()
        self.kill_in = epoch

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.kill_in:
            raise StopProcess


class Kill9In(keras.callbacks.Callback):
    """Ends the process in the middle of an epoch, counted from 0, as `kill -9` does."""

    def __init__(self, epoch):
        super().__init__()
        self.kill_in, self.epoch = epoch, -1

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_begin(self, batch, logs=None):
        if (self.epoch, batch) == (self.kill_in, 5):
            os.kill(os.getpid(), signal.SIGKILL)


class Seen(keras.callbacks.Callback):
    """What a callback is told: where training goes on, and all epochs."""

    def __init__(self):
        super().__init__()
        self.epochs, self.resumed = [], None

    def on_train_begin(self, logs=None):
        self.resumed = (logs["epochs_done"], logs["steps_done"])

    def on_epoch_end(self, epoch, logs=None):
        self.epochs.append(epoch)


def test_the_best_epoch_is_kept_and_not_the_last():
    objective = Line(valid_losses=[3.0, 1.0, 2.0, 5.0, 4.0, 6.0])
    snapshots = []

    class Snapshot(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            snapshots.append([w.copy() for w in self.model.get_weights()])

    fitted = fit(objective, config(), callbacks=[Snapshot()])
    assert fitted.best_epoch == 2
    for kept, best in zip(objective.model.get_weights(), snapshots[1], strict=True):
        np.testing.assert_array_equal(kept, best)


def test_early_stopping_ends_after_its_patience():
    fitted = fit(Line(valid_losses=[3.0, 1.0, 2.0, 2.0, 2.0, 2.0]), config(early_stopping_patience=2))
    assert len(fitted.history) == 4


def assert_equal_weights(ours: Line, theirs: Line) -> None:
    for one, other in zip(ours.model.get_weights(), theirs.model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def resumed_at(folder: Path, objective: Line | None = None, **changes) -> tuple[tuple[int, int], Line]:
    """Goes on from the folder's checkpoint: epochs and steps that it had, and the trained objective."""
    seen, objective = Seen(), objective or Line()
    fit(objective, config(**changes), checkpoint=Checkpoint(folder, "key"), callbacks=[seen])
    return seen.resumed, objective


def test_a_killed_training_goes_on_and_ends_with_the_weights_of_an_undisturbed_one(tmp_path):
    whole = Line()
    fit(whole, config())

    with pytest.raises(StopProcess):
        fit(Line(), config(), checkpoint=Checkpoint(tmp_path, "key"), callbacks=[KillIn(3)])
    resumed, seen = Line(), Seen()
    fit(resumed, config(), checkpoint=Checkpoint(tmp_path, "key"), callbacks=[seen])

    assert seen.resumed == (3, 0)
    assert seen.epochs == [0, 1, 2, 3, 4, 5], "a record of the run is whole after a resume"
    assert_equal_weights(resumed, whole)


@pytest.mark.slow
def test_a_training_killed_with_signal_9_in_epoch_3_of_6_ends_with_the_weights_of_an_undisturbed_one(tmp_path):
    # keras-team/keras#19389: a resume that is none.
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "from test_loop import Checkpoint, Kill9In, Line, config, fit\n"
        "fit(Line(), config(), checkpoint=Checkpoint(Path(sys.argv[2]), 'key', minutes=0), callbacks=[Kill9In(2)])"
    )
    arguments = [sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path)]
    assert subprocess.run(arguments, check=False, capture_output=True).returncode == -signal.SIGKILL
    whole = Line()
    fit(whole, config())
    done, resumed = resumed_at(tmp_path)
    assert done == (2, 5), "what was done after the last epoch is not lost"
    assert_equal_weights(resumed, whole)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_training_that_is_asked_to_stop_ends_its_step_saves_and_goes_on_there(tmp_path, number):
    class Ask(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if batch == 7:
                os.kill(os.getpid(), number)

    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    before = signal.signal(number, usual)  # whoever started the tests may have let them ignore it
    expected = KeyboardInterrupt if number == signal.SIGINT else SystemExit
    try:
        with pytest.raises(expected) as raised:
            fit(Line(), config(), checkpoint=Checkpoint(tmp_path, "key"), callbacks=[Ask()])
        assert signal.getsignal(number) is usual
    finally:
        signal.signal(number, before)
    if expected is SystemExit:
        assert raised.value.code == 128 + number
    whole = Line()
    fit(whole, config())
    done, resumed = resumed_at(tmp_path)
    assert done == (0, 8), "the step in which the signal came is done, and saved though no minute has passed"
    assert_equal_weights(resumed, whole)


def test_a_training_that_is_asked_to_stop_while_it_validates_has_its_epoch_saved(tmp_path):
    class Asked(Line):
        def validate(self):
            os.kill(os.getpid(), signal.SIGTERM)
            raise AssertionError("validation went on")

    with pytest.raises(SystemExit):
        fit(Asked(), config(), checkpoint=Checkpoint(tmp_path, "key"))
    whole = Line()
    fit(whole, config())
    done, resumed = resumed_at(tmp_path)
    assert done == (0, 10)
    assert_equal_weights(resumed, whole)


def test_a_signal_that_is_ignored_stays_ignored(tmp_path):
    class Ask(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            os.kill(os.getpid(), signal.SIGHUP)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert len(fit(Line(), config(epochs=2), callbacks=[Ask()]).history) == 2
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_worse_epoch_after_a_resume_does_not_replace_the_best(tmp_path):
    losses = [3.0, 1.0, 2.0, 2.0, 2.0, 2.0]
    with pytest.raises(StopProcess):
        fit(Line(losses), config(), checkpoint=Checkpoint(tmp_path, "key"), callbacks=[KillIn(3)])
    fitted = fit(Line(losses[3:]), config(), checkpoint=Checkpoint(tmp_path, "key"))
    assert fitted.best_epoch == 2


def test_other_settings_start_at_the_first_epoch_and_say_that_a_checkpoint_was_replaced(tmp_path):
    fit(Line(), config(epochs=2), checkpoint=Checkpoint(tmp_path, "key"))
    other, seen = Checkpoint(tmp_path, "another key"), Seen()
    assert other.replaced
    fit(Line(), config(epochs=2), checkpoint=other, callbacks=[seen])
    assert seen.resumed == (0, 0)


def test_one_infinite_batch_is_skipped_and_counted():
    objective = Line(spoil=lambda epoch, index: np.inf if (epoch, index) == (1, 4) else 1.0)
    fitted = fit(objective, config(epochs=2))
    assert [row["train/skipped_steps"] for row in fitted.history] == [0.0, 1.0]
    assert all(np.isfinite(w).all() for w in objective.model.get_weights())


def test_divergence_ends_training_with_the_step_named():
    objective = Line(spoil=lambda epoch, index: np.nan if epoch == 1 and index >= 2 else 1.0)
    with pytest.raises(TrainingError, match=r"epoch 2, step 5.*3 steps in a row"):
        fit(objective, config())


def test_a_callback_of_the_users_can_stop_training():
    class Stop(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.stop_training = epoch == 1

    assert len(fit(Line(), config(), callbacks=[Stop()]).history) == 2
