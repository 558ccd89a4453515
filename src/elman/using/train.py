"""`elman.train`: from text to a trained model in one call, by the functions that the stages of the pipeline run."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

from elman.config import Cell, Params
from elman.data.encoding import encode_splits
from elman.data.prepare import prepare
from elman.data.tokenizer_training import keep_tokenizer, train_tokenizer
from elman.errors import ConfigError
from elman.training.train_cell import Inputs, train_cell
from elman.using.load import load_located
from elman.using.locate import locate
from elman.using.text_classifier import TextClassifier
from elman.using.text_language_model import TextLanguageModel


def train(params: Params, *, task: str, cell: str, out: str | Path) -> TextClassifier | TextLanguageModel:
    """Prepares the text, trains the tokenizer and one model a seed of `experiment.seeds`, and loads the best one.

    Nothing is tracked. Called again with another cell, it trains that one on the same text. A seed that was trained
    before from the same settings, data and code is kept, and a training that was killed goes on. A classifier that
    starts from the language model (`classifier.pretrain`) has that one trained first.

    Args:
        params: All settings; `dataset.path` names the text.
        task: "classifier" or "language_model".
        cell: "simple_rnn", "lstm" or "gru".
        out: Folder that gets the folders of the pipeline: data/prepared, data/encoded, models, checkpoints.

    Returns:
        As `elman.load`: of the seeds, the one that is best on validation.

    Raises:
        ConfigError: `task` is none of `dataset.tasks`, or there is no such cell.
        DataError: The text cannot be used as it is.
        TokenizerError: The tokenizer cannot be trained on it.
        TrainingError: Training diverged.
    """
    if task not in params.dataset.tasks:
        raise ConfigError(f"dataset.tasks: {task!r} is needed, but came {list(params.dataset.tasks)}")
    if cell not in get_args(Cell):
        raise ConfigError(f"cell: one of {', '.join(get_args(Cell))} is needed, but came {cell!r}")
    root = Path(out)
    prepared, tokenizer, encoded = root / "data" / "prepared", root / "models" / "tokenizer", root / "data" / "encoded"
    threads = params.compute.threads
    prepare(dataset=params.dataset, cleaning=params.prepare, out=prepared)
    _make_tokenizer(params, prepared=prepared, output=tokenizer)
    max_length = params.classifier.max_length
    encode_splits(prepared=prepared, tokenizer_folder=tokenizer, output=encoded, max_length=max_length, threads=threads)
    models, labels = root / "models", prepared / "labels.json"
    first = ["language_model"] if task == "classifier" and params.classifier.pretrain == "language_model" else []
    for each in [*first, task]:
        folder = models / each / cell
        inputs = Inputs(encoded, tokenizer, labels, root / "checkpoints", folder, models / "language_model")
        train_cell(params=params, task=each, cell=cell, inputs=inputs, recorder=Untracked(), tags={})
    return load_located(locate(folder, models=models, task=task))


def _make_tokenizer(params: Params, *, prepared: Path, output: Path) -> None:
    """As the train_tokenizer stage does."""
    wanted, threads = params.tokenizer, params.compute.threads
    if wanted.keep is None:
        train_tokenizer(prepared=prepared, output=output, threads=threads, **wanted.model_dump(exclude={"keep"}))
        return
    megabytes = wanted.max_training_megabytes
    keep_tokenizer(
        Path(wanted.keep), prepared=prepared, output=output, max_megabytes=megabytes, seed=wanted.seed, threads=threads
    )


class UntrackedRun:
    """A run of which nothing is kept."""

    run_id = ""

    def log_epoch(self, epoch: int, metrics: Mapping[str, float]) -> None:
        """The training's own history.json has them."""

    def log_artifact(self, path: Path, folder: str | None = None) -> None:
        """The file stays where it is."""

    def logged_epochs(self) -> int:
        """None is kept."""
        return 0

    @contextmanager
    def child_run(
        self,
        *,
        seed: int,
        params: Mapping[str, Any],
        tags: Mapping[str, Any] | None = None,
        resume: str | None = None,
    ) -> "Iterator[UntrackedRun]":
        """The run of one seed."""
        yield UntrackedRun()

    def adopt(self, *, seed: int, run_id: str) -> None:
        """There is nothing to adopt."""

    def release(self, run_ids: Mapping[int, str]) -> None:
        """There is nothing to release."""

    def ids(self) -> dict[str, Any]:
        """None that evaluation could find."""
        return {"experiment_id": "", "parent_run_id": "", "runs": {}}


class Untracked:
    """The recorder of a training that is not tracked."""

    @contextmanager
    def parent_run(
        self,
        *,
        task: str,
        cell: str,
        seeds: list[int],
        params: Mapping[str, Any],
        tags: Mapping[str, Any],
        resume: str | None = None,
    ) -> Iterator[UntrackedRun]:
        """The run of a task and cell."""
        yield UntrackedRun()
