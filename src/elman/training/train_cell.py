"""The train stage: all seeds of one task and cell."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import keras

from elman.artifacts import write_json
from elman.config import ClassifierConfig, LanguageModelConfig, Params
from elman.data.sequences import EncodedDocuments, read_encoded
from elman.models.classifier import Classifier
from elman.models.device import configure_device
from elman.models.language_model import LanguageModel
from elman.models.serving import NAME as SERVING
from elman.models.serving import write_serving
from elman.models.spec import ModelSpec
from elman.models.store import Model, build_model, save_model
from elman.seeding import derive_seed
from elman.training.architecture import cell_config, make_spec
from elman.training.checkpoint import Checkpoint, Runs
from elman.training.describe import describe_models
from elman.training.kept_seeds import KeptSeed, read_trained, remove_others, write_trained
from elman.training.loop import Fitted, fit
from elman.training.objectives import ClassifierObjective, LanguageModelObjective, Objective
from elman.training.plan import make_plan, plan_lines
from elman.training.pretraining import Start, copy_start, read_starts, write_start
from elman.training.progress import ProgressReport
from elman.training.provenance import params_hash, provenance
from elman.training.recorder import EpochRecord, Recorder, Run


class Inputs(NamedTuple):
    """What the train stage reads, and where it writes.

    Attributes:
        encoded: Folder with train.parquet and valid.parquet.
        tokenizer: Folder with tokenizer.json.
        labels: labels.json.
        checkpoints: Folder for checkpoints, outside the stage's outputs.
        out: The stage's output, models/<task>/<cell>.
        language_models: Folder of the language models, by cell; read only where a classifier starts from one.
    """

    encoded: Path
    tokenizer: Path
    labels: Path
    checkpoints: Path
    out: Path
    language_models: Path = Path("models/language_model")


def train_cell(
    *, params: Params, task: str, cell: str, inputs: Inputs, recorder: Recorder, tags: Mapping[str, str]
) -> dict[str, Any]:
    """Trains one model a seed and writes them with their history and a summary.

    A seed whose folder is there, whole, and made from the same settings, data and code is kept as it is.

    Args:
        params: All of params.yaml.
        task: "classifier" or "language_model".
        cell: "simple_rnn", "lstm" or "gru".
        inputs: Where to read and write.
        recorder: Where runs are tracked.
        tags: What the runs are tagged with: commit, hashes, stage.

    Returns:
        The summary, also written as summary.json.

    Raises:
        ArtifactError: A classifier is to start from a language model that is not there, or reads other tokens.
        ConfigError: `experiment.equal_parameters` cannot be had, or the language model has other shapes.
        DeviceError: A GPU is asked for and there is none.
        TrainingError: Training diverged, or the data has no labels to train on.
    """
    sources: dict[str, Any] = {"task": task, "cell": cell, "tokenizer": inputs.tokenizer, "labels": inputs.labels}
    config = cell_config(params, **sources)
    device = configure_device(**params.compute.machine)
    seeds = list(params.experiment.seeds)
    spec = make_spec(config, **sources)
    equal_to = params.experiment.equal_parameters
    starts = _starts(config, cell, inputs, seeds)
    model = build_model(dataclasses.replace(spec, seed=seeds[0]))
    plan = make_plan(model, device, equal_to=equal_to, start=starts.get(seeds[0]))
    print("\n".join(plan_lines(plan)), flush=True)  # noqa: T201
    write_json(inputs.out / "plan.json", plan)
    (inputs.out / SERVING).unlink(missing_ok=True)  # until all seeds are trained, the folder is not to be used
    hashes = _provenance(params, config, inputs)
    train, valid = (read_encoded(inputs.encoded / f"{split}.parquet") for split in ("train", "valid"))
    job = _Job(config, spec, train, valid, inputs, hashes, starts, params.compute.checkpoint_minutes)
    logged = {**config.model_dump(), "parameters": plan["parameters"], "vocab_size": spec.vocab_size}
    logged |= {"dataset": params.dataset.name, "device": device.kind, "equal_parameters": equal_to}
    summary: dict[str, Any] = {"version": 1, "task": task, "cell": cell, "parameters": plan["parameters"]}
    summary["units"] = spec.units
    summary |= {"device": device.kind, "seeds": seeds, "per_seed": {}}
    kept = {seed: found for seed in seeds if (found := read_trained(job.folder(seed), key=job.key(seed)))}
    removed = remove_others(inputs.out, seeds)
    checkpoints = {seed: _checkpoint(job, seed) for seed in seeds}
    parents = [found.parent_run_id for found in kept.values()]
    parents += [runs.parent_run_id for checkpoint in checkpoints.values() if (runs := checkpoint.runs())]
    resume = parents[0] if parents else None
    tags = {**tags, **hashes}
    with recorder.parent_run(task=task, cell=cell, seeds=seeds, params=logged, tags=tags, resume=resume) as parent:
        parent.log_artifact(inputs.out / "plan.json")
        parent.release(removed)
        for seed in seeds:
            if seed in kept:
                print(_KEPT.format(task=task, cell=cell, seed=seed, folder=job.folder(seed)), flush=True)  # noqa: T201
                parent.adopt(seed=seed, run_id=kept[seed].run_id)
                summary["per_seed"][str(seed)] = kept[seed].summary
                continue
            before = checkpoints[seed].runs()
            own = {**logged, **job.start_params(seed)}
            with parent.child_run(seed=seed, params=own, resume=before.run_id if before else None) as run:
                checkpoints[seed].record(Runs(run.run_id, parent.run_id))
                summary["per_seed"][str(seed)] = _train_seed(job, seed, run, checkpoints[seed])
            trained = KeptSeed(summary["per_seed"][str(seed)], run.run_id, parent.run_id)
            write_trained(job.folder(seed), key=job.key(seed), kept=trained)
        write_json(inputs.out / "run.json", {"version": 1, **parent.ids()})
        write_json(inputs.out / "summary.json", summary)
        _write_serving(job, params, seeds)
        for name in ("summary.json", SERVING):
            parent.log_artifact(inputs.out / name)
    for checkpoint in checkpoints.values():
        checkpoint.remove()
    return summary


_KEPT = "{task} {cell} seed {seed}: kept, made from the same settings, data and code (delete {folder} to train it anew)"


class _Job(NamedTuple):
    """What all seeds of a cell share."""

    config: ClassifierConfig | LanguageModelConfig
    spec: ModelSpec
    train: EncodedDocuments
    valid: EncodedDocuments
    inputs: Inputs
    hashes: Mapping[str, str]
    starts: Mapping[int, Start]
    checkpoint_minutes: float

    def key(self, seed: int) -> str:
        """Names all that the training of a seed depends on: settings, data, tokenizer, code, weights copied."""
        spec = dataclasses.replace(self.spec, seed=seed).to_json()
        copied = {"start": self.starts[seed].sha256} if seed in self.starts else {}
        return params_hash({**spec, **self.hashes, **copied})[:16]

    def start_params(self, seed: int) -> dict[str, str]:
        """What is logged of the weights that the seed starts from; nothing where they are drawn."""
        start = self.starts.get(seed)
        return {} if start is None else {"pretrain_source": start.source, "pretrain_sha256": start.sha256}

    def folder(self, seed: int) -> Path:
        """Where a seed's model is written."""
        return self.inputs.out / f"seed-{seed}"


def _starts(
    config: ClassifierConfig | LanguageModelConfig, cell: str, inputs: Inputs, seeds: list[int]
) -> dict[int, Start]:
    """By seed, what a classifier starts from; empty where its first weights are drawn."""
    if not isinstance(config, ClassifierConfig) or config.pretrain == "none":
        return {}
    return read_starts(inputs.language_models / cell, seeds=seeds, tokenizer=inputs.tokenizer)


def _write_serving(job: _Job, params: Params, seeds: list[int]) -> None:
    inputs = job.inputs
    sources = {"tokenizer": inputs.tokenizer, "labels": inputs.labels}
    serving = describe_models(inputs.out, params=params, config=job.config, cell=job.spec.cell, seeds=seeds, **sources)
    write_serving(inputs.out, serving)


def make_objective(
    model: Model,
    config: ClassifierConfig | LanguageModelConfig,
    train: EncodedDocuments,
    valid: EncodedDocuments,
    *,
    seed: int,
) -> Objective:
    """The task's side of the training loop."""
    if isinstance(model, Classifier):
        assert isinstance(config, ClassifierConfig)
        return ClassifierObjective(model, config, train, valid, seed=seed)
    assert isinstance(model, LanguageModel)
    assert isinstance(config, LanguageModelConfig)
    return LanguageModelObjective(model, config, train, valid, seed=seed)


def _provenance(params: Params, config: ClassifierConfig | LanguageModelConfig, inputs: Inputs) -> dict[str, str]:
    settings = {"section": config.model_dump(mode="json"), "compute": params.compute.machine}
    data = [inputs.encoded / "train.parquet", inputs.encoded / "valid.parquet"]
    return provenance(data=data, tokenizer=inputs.tokenizer, params=settings)


def _checkpoint(job: _Job, seed: int) -> Checkpoint:
    """A checkpoint that only a training with the same settings, data, tokenizer and code finds."""
    folder = job.inputs.checkpoints / job.spec.task / job.spec.cell / f"seed-{seed}"
    return Checkpoint(folder, job.key(seed), minutes=job.checkpoint_minutes)


def _train_seed(job: _Job, seed: int, run: Run, checkpoint: Checkpoint) -> dict[str, Any]:
    keras.backend.clear_session(free_memory=True)
    keras.utils.set_random_seed(derive_seed(seed, "process"))
    spec = dataclasses.replace(job.spec, seed=seed)
    title = f"{spec.task} {spec.cell} seed {seed}"
    if checkpoint.replaced:
        print(f"{title}: params, data or code changed since the last checkpoint: clean start", flush=True)  # noqa: T201
    model = build_model(spec)
    start = job.starts.get(seed)
    if start is not None:
        copy_start(model, start)
    objective = make_objective(model, job.config, job.train, job.valid, seed=seed)
    callbacks = [ProgressReport(title, job.config.epochs), EpochRecord(run, done=run.logged_epochs())]
    try:
        fitted = fit(objective, job.config, checkpoint=checkpoint, callbacks=callbacks)
    except (SystemExit, KeyboardInterrupt):
        print(f"{title}: asked to stop; `dvc repro` goes on where it was", flush=True)  # noqa: T201
        raise
    for path in checkpoint.damaged:
        print(f"{title}: {path} was damaged and is left out", flush=True)  # noqa: T201
    folder = job.folder(seed)
    save_model(model, folder)
    write_json(folder / "history.json", fitted.history)
    write_start(folder, start)
    run.log_artifact(folder, "model")
    return _seed_summary(fitted) | ({} if start is None else {"start": start.facts()})


def _seed_summary(fitted: Fitted) -> dict[str, Any]:
    seconds = sum(row["train/seconds"] for row in fitted.history)
    tokens = sum(row["train/seconds"] * row["train/tokens_per_second"] for row in fitted.history)
    return {
        "train_seconds": seconds,
        "train_tokens": round(tokens),
        "tokens_per_second": tokens / seconds,
        "epochs": len(fitted.history),
        "best_epoch": fitted.best_epoch,
        "skipped_steps": sum(row["train/skipped_steps"] for row in fitted.history),
    }
