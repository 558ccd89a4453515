"""Writes a trained model into a folder that other programs can use without this package."""

import importlib
import shutil
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from elman import __version__
from elman.artifacts import new_folder, read_json, sha256_file, write_json
from elman.data.tokenizer import BOS_ID, EOS_ID, METADATA_FILE, MODEL_FILE, PAD_ID, UNK_ID
from elman.errors import ConversionError
from elman.exporting.formats import WAYS, Format, check_installed
from elman.exporting.source import TOLERANCE, Source, Written, plain_copy
from elman.packages.loading import load_found
from elman.packages.package import Package
from elman.using.locate import Located

ABOUT = "export.json"


def export_model(found: Package | Located, out: Path, *, form: Format) -> dict[str, Any]:
    """Writes the model, its tokenizer and export.json to the folder `out`, whole or not at all.

    Args:
        found: The model.
        out: Must not exist yet.
        form: onnx (ids in, any batch), savedmodel (strings in) or litert (ids in, one document or step).

    Returns:
        What stands in export.json.

    Raises:
        ArtifactError: `out` is there already, or the model is not whole.
        ConversionError: A package is missing, the format cannot express the model, or what was written gives other
            outputs than Keras.
    """
    check_installed(form)
    loaded = load_found(found)
    beside = found.folder if isinstance(found, Package) else found.folder.parent  # where serving.json is
    source = Source(plain_copy(loaded.model), found.serving, beside / found.serving.tokenizer.path)
    with new_folder(out) as folder:
        written = importlib.import_module(WAYS[form].module).write(source, folder)
        if written.difference is not None and not written.difference <= TOLERANCE:
            raise ConversionError(
                f"{form}: outputs differ by up to {written.difference:.2g} from Keras', more than {TOLERANCE:g}"
            )
        shutil.copyfile(source.tokenizer / MODEL_FILE, folder / MODEL_FILE)
        about = _about(source, written, seed=found.seed, form=form, folder=folder)
        write_json(folder / ABOUT, about)
    return about


def _about(source: Source, written: Written, *, seed: int, form: str, folder: Path) -> dict[str, Any]:
    serving, spec = source.serving, source.model.spec
    own: dict[str, Any] = {"state": serving.state}
    if source.is_classifier:
        assert serving.labels is not None
        own = {"labels": list(serving.labels), "max_length": serving.max_length}
    return {
        "version": 1,
        "format": form,
        "task": serving.task,
        "cell": serving.cell,
        "seed": seed,
        "vocab_size": spec.vocab_size,
        "units": spec.units,
        "num_layers": spec.num_layers,
        **own,
        "inputs": written.inputs,
        "outputs": written.outputs,
        "ids": {"pad": PAD_ID, "unk": UNK_ID, "bos": BOS_ID, "eos": EOS_ID},
        "cleaning": serving.cleaning.model_dump(),
        "tokenizer": {"file": MODEL_FILE, "model": read_json(source.tokenizer / METADATA_FILE)["model"]},
        "largest_difference_from_keras": written.difference,
        "packages": _versions(form),
        "sha256": {
            path.relative_to(folder).as_posix(): sha256_file(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        },
    }


def _versions(form: str) -> dict[str, str]:
    versions = {"elman": __version__}
    runtimes = {"onnx": ("onnxruntime",)}.get(form, ("tensorflow",))
    for package in ("keras", *runtimes, *(package for _, package in WAYS[form].needs)):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
