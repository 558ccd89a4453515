"""The weights' archive: what a .keras file of ours holds, and what is refused in one from elsewhere.

Models are built from model.json and only read weights from the archive (`elman.models.store.load_model`), so that
nothing named in it is ever made. It is refused all the same: somebody may hand the file to `keras.models.load_model`.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

from elman.errors import ArtifactError

_MEMBERS = ["config.json", "metadata.json", "model.weights.h5"]
_CLASSES = {
    "classifier": ("elman.models.classifier", "Classifier"),
    "language_model": ("elman.models.language_model", "LanguageModel"),
}
_LONGEST_CONFIG = 1 << 20  # bytes; ours have about 700


def check_archive(path: Path, *, task: str, description: dict[str, Any]) -> None:
    """Looks into a .keras file without Keras.

    Args:
        path: The file.
        task: "classifier" or "language_model".
        description: The model.json beside it, which the archive's own description must equal.

    Raises:
        ArtifactError: It is no archive as Keras writes one, or its config names another class than ours: a Lambda, a
            layer of Keras or anything else. Our models are of one class, and have plain values inside.
    """
    config = _read_config(path)
    found = (config.get("module"), config.get("class_name"))
    if found != _CLASSES[task]:
        raise ArtifactError(f"{path}: config.json names {_shown(found)}; a {task} is {_shown(_CLASSES[task])}. Refused")
    inner = config.get("config")
    if not isinstance(inner, dict) or inner.get("spec") != description:
        raise ArtifactError(f"{path}: describes another model than the model.json beside it")
    places: list[Any] = list(config.values())
    while places:
        value = places.pop()
        if isinstance(value, dict) and "class_name" in value:
            named = _shown((value.get("module"), value["class_name"]))
            raise ArtifactError(f"{path}: config.json holds the class {named}, which no model of ours has. Refused")
        places += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _read_config(path: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if sorted(member.filename for member in members) != _MEMBERS:
                names = ", ".join(sorted(member.filename for member in members))
                raise ArtifactError(f"{path}: holds {names}; a model's weights are in {', '.join(_MEMBERS)}. Refused")
            # Keras stores without compression; a small file that unpacks into gigabytes is none of its.
            if any(member.compress_type != zipfile.ZIP_STORED for member in members):
                raise ArtifactError(f"{path}: is compressed, which Keras does not do. Refused")
            if archive.getinfo("config.json").file_size > _LONGEST_CONFIG:
                raise ArtifactError(f"{path}: config.json is longer than {_LONGEST_CONFIG:,} bytes. Refused")
            config = json.loads(archive.read("config.json"))
    except (zipfile.BadZipFile, ValueError, RecursionError, OSError) as error:
        raise ArtifactError(f"{path}: no .keras archive, or a damaged one ({error})") from None
    if not isinstance(config, dict):
        raise ArtifactError(f"{path}: config.json describes no model")
    return config


def _shown(name: tuple[Any, Any]) -> str:
    return f"{name[0]}.{name[1]}"
