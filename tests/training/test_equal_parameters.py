from contextlib import contextmanager

from elman.artifacts import read_json
from elman.config import load_params
from elman.models.parameter_count import count_parameters
from elman.models.serving import TokenizerFile, read_serving
from elman.models.store import load_model
from elman.training.train_cell import Inputs, train_cell
from tests.helpers.encoded_project import write_encoded_project


class Recorded:
    """A recorder and its runs, which keep the parameters only."""

    run_id = "0123"

    def __init__(self):
        self.params = []

    @contextmanager
    def parent_run(self, *, task, cell, seeds, params, tags, resume=None):
        self.params.append(params)
        yield self

    @contextmanager
    def child_run(self, *, seed, params, tags=None, resume=None):
        self.params.append(params)
        yield self

    def ids(self):
        return {}

    def release(self, seeds):
        pass

    def log_epoch(self, epoch, metrics):
        pass

    def logged_epochs(self):
        return 0

    def log_artifact(self, path, folder=None):
        pass


def test_chosen_units_are_trained_printed_recorded_and_in_the_summary(tmp_path, capsys):
    data = write_encoded_project(tmp_path)
    plain = load_params(tmp_path / "params.yaml")
    changes = {"equal_parameters": "lstm", "seeds": (7,)}
    params = plain.model_copy(
        update={
            "experiment": plain.experiment.model_copy(update=changes),
            "classifier": plain.classifier.model_copy(update={"units": 16, "epochs": 1}),
        }
    )
    inputs = Inputs(*data, checkpoints=tmp_path / "checkpoints", out=tmp_path / "out")
    recorder = Recorded()
    summary = train_cell(params=params, task="classifier", cell="simple_rnn", inputs=inputs, recorder=recorder, tags={})
    model = load_model(tmp_path / "out" / "seed-7")
    assert model.spec.units == summary["units"] > 16
    assert model.count_params() == count_parameters(model.spec) == summary["parameters"]
    # 30 x 5 embedding; 4 gates of 16 x (5 + 16 + 1); 3 x 16 pooled to 2 classes, and their biases
    lstm = 150 + 4 * 16 * 22 + 48 * 2 + 2
    assert abs(summary["parameters"] - lstm) <= 0.02 * lstm
    for logged in recorder.params:
        assert (logged["units"], logged["equal_parameters"]) == (summary["units"], "lstm")
    assert read_json(tmp_path / "out" / "plan.json")["units"] == summary["units"]
    assert f"{summary['units']} units (chosen to have as many parameters as lstm)" in capsys.readouterr().out
    serving = read_serving(tmp_path / "out")
    assert (serving.labels, serving.max_length, serving.best_seed) == (("bad", "good"), 256, 7)
    assert serving.tokenizer == TokenizerFile(path="../models/tokenizer", sha256="5" * 64)
    assert serving.cleaning.model_dump() == {"unicode_form": "NFC", "lowercase": False, "whitespace": "collapse"}
    history = read_json(tmp_path / "out" / "seed-7" / "history.json")
    assert serving.valid_loss == {7: history[0]["valid/loss"]}
