"""Model packages without a model: every file is plain, and all hashes are right. Nothing here loads TensorFlow."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elman.artifacts import read_json, sha256_file, write_json
from elman.packages.package import FILES, MANIFEST, WEIGHTS

LABELS = ("left", "right")


def write_plain_package(folder: Path, *, seed: int = 1, task: str = "classifier", cell: str = "gru") -> Path:
    """A package that `open_package` takes; only by its seed is it told from another one."""
    for name in ("model", "tokenizer"):
        (folder / name).mkdir(parents=True)
    (folder / "tokenizer" / "tokenizer.model").write_bytes(b"pieces")
    write_json(folder / "tokenizer" / "tokenizer.json", {"version": 1})
    spec = {"version": 1, "task": task, "cell": cell, "seed": seed}
    write_json(folder / "model" / "model.json", spec)
    write_archive(folder / WEIGHTS, {**_config(task), "config": {"name": task, "spec": spec}})
    own: dict[str, Any] = {"state": "document", "window_length": 7}
    probe: dict[str, Any] = {"text": "the key", "nll_nats": 3.5, "num_tokens": 8}
    if task == "classifier":
        own = {"labels": LABELS, "max_length": 20}
        probe = {"text": "the key", "probabilities": [0.25, 0.75]}
    digest = sha256_file(folder / "tokenizer" / "tokenizer.model")
    cleaning = {"unicode_form": "NFC", "lowercase": True, "whitespace": "collapse"}
    serving = {"version": 1, "task": task, "cell": cell, "cleaning": cleaning, "mixed_precision": False, **own}
    serving |= {"tokenizer": {"path": "tokenizer", "sha256": digest}, "valid_loss": {str(seed): 0.5}}
    write_json(folder / "serving.json", serving)
    manifest = {"version": 1, "task": task, "cell": cell, "seed": seed, "versions": {"elman": "0.1.0"}, "params": {}}
    manifest |= {"metrics": {"accuracy": 0.9}, "provenance": {"commit": "abc"}, "probes": [probe] * 8, "files": {}}
    write_json(folder / MANIFEST, manifest)
    sign(folder)
    return folder


def sign(folder: Path, **changes: object) -> None:
    """Writes the hashes of the files as they are now, and other changes, into package.json: what a forger would do."""
    files = {name: sha256_file(folder / name) for name in FILES}
    write_json(folder / MANIFEST, {**read_json(folder / MANIFEST), "files": files, **changes})


def write_archive(
    path: Path,
    config: Mapping[str, Any],
    *,
    members: Mapping[str, bytes] | None = None,
    compression: int = zipfile.ZIP_STORED,
) -> None:
    """A .keras file with this config and, with `members`, other files beside it."""
    inside = {"config.json": json.dumps(config).encode(), "metadata.json": b"{}", "model.weights.h5": b"\x89HDF"}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**inside, **(members or {})}.items():
            archive.writestr(zipfile.ZipInfo(name), content, compression)  # without the time of day


def _config(task: str) -> dict[str, Any]:
    name = {"classifier": "Classifier", "language_model": "LanguageModel"}[task]
    return {"module": f"elman.models.{task}", "class_name": name, "registered_name": f"elman>{name}"}
