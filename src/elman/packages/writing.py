"""Makes a package of a trained model."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elman.artifacts import new_folder, sha256_file, write_json
from elman.errors import ArtifactError
from elman.models.serving import Serving, TokenizerFile, write_serving
from elman.packages.package import FILES, MANIFEST, MODEL, TOKENIZER, Manifest, Package, open_package
from elman.packages.probes import predict_probes, probe_texts
from elman.packages.versions import versions_here
from elman.using.load import load_located
from elman.using.locate import Located, locate


def write_package(
    cell_folder: Path,
    out: Path,
    *,
    seed: int | None = None,
    params: Mapping[str, Any],
    metrics: Mapping[str, Any],
    provenance: Mapping[str, str],
) -> Package:
    """Copies a trained model with all that it needs into a new folder, which appears whole or not at all.

    Args:
        cell_folder: models/<task>/<cell>, with serving.json and the seeds' folders.
        out: The package; must not exist yet.
        seed: Which of the cell's models; None takes the one that is best on validation.
        params: What the model was trained with; strict JSON.
        metrics: What it reached; strict JSON.
        provenance: Hashes of data, tokenizer, params and code, and the commit.

    Raises:
        ArtifactError: `out` exists, the model is not whole, or a value is no strict JSON.
    """
    cell_folder = cell_folder.resolve()
    source = locate(cell_folder if seed is None else cell_folder / f"seed-{seed}", models=cell_folder.parent.parent)
    with new_folder(out) as folder:
        serving = _copy_files(source, folder)
        found = Located(folder / MODEL, source.seed, serving, None)
        model = load_located(found)
        values = Manifest(
            task=serving.task,
            cell=serving.cell,
            seed=source.seed,
            versions=versions_here(),
            params={},
            metrics={},
            provenance=dict(provenance),
            probes=predict_probes(model, probe_texts(model.tokenizer, seed=source.seed)),
            files={name: sha256_file(folder / name) for name in FILES},
        )
        # As they came, and not by way of the manifest, which would write null for a number that is not finite.
        write_json(
            folder / MANIFEST, {**values.model_dump(mode="json"), "params": dict(params), "metrics": dict(metrics)}
        )
        written = open_package(folder)
    return Package(folder=out, manifest=written.manifest, serving=written.serving, hash=written.hash)


def _copy_files(source: Located, folder: Path) -> Serving:
    """The files of a model and its tokenizer; returns what the package's serving.json says."""
    tokenizer = source.folder.parent / source.serving.tokenizer.path
    for name in FILES:
        inside = Path(name)
        if inside.parts[0] not in (MODEL, TOKENIZER):
            continue
        (folder / inside.parent).mkdir(exist_ok=True)
        origin = (source.folder if inside.parts[0] == MODEL else tokenizer) / inside.name
        try:
            shutil.copyfile(origin, folder / name)
        except FileNotFoundError:
            raise ArtifactError(f"{origin}: no such file: the model is not whole; run `dvc repro`") from None
    known = TokenizerFile(path=TOKENIZER, sha256=source.serving.tokenizer.sha256)
    loss = {source.seed: source.serving.valid_loss[source.seed]}
    serving = source.serving.model_copy(update={"tokenizer": known, "valid_loss": loss})
    write_serving(folder, serving)
    return serving
