"""The formats of an export and the packages that each needs. Nothing here loads TensorFlow."""

import importlib.util
from typing import Literal, NamedTuple

from elman.errors import ConversionError

Format = Literal["onnx", "savedmodel", "litert"]


class Way(NamedTuple):
    """How a format is written.

    Attributes:
        module: Has `write`.
        needs: Packages that it imports, as (import name, package).
    """

    module: str
    needs: tuple[tuple[str, str], ...]


WAYS: dict[str, Way] = {
    "onnx": Way("elman.exporting.onnx_file", (("onnx", "onnx"),)),
    "savedmodel": Way("elman.exporting.saved_model", (("tensorflow_text", "tensorflow-text"),)),
    "litert": Way("elman.exporting.litert_file", (("ai_edge_litert", "ai-edge-litert"),)),
}


def check_installed(form: str) -> None:
    """Says which packages a format needs, before anything is loaded.

    Raises:
        ConversionError: The format is unknown, or a package is missing.
    """
    if form not in WAYS:
        raise ConversionError(f"--format: one of {', '.join(WAYS)} is needed, but came {form!r}")
    missing = [package for name, package in WAYS[form].needs if importlib.util.find_spec(name) is None]
    if missing:
        raise ConversionError(
            f"the format {form} needs {', '.join(missing)}, which is not installed: pip install 'elman[export]'"
        )
