"""The weights in a .keras file, without Keras: two files with equal weights differ in their times."""

import zipfile
from io import BytesIO
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt


def saved_weights(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Name in the file -> values, float32 each."""
    with zipfile.ZipFile(path) as archive, h5py.File(BytesIO(archive.read("model.weights.h5"))) as file:
        names: list[str] = []
        file.visit(names.append)
        values = {name: np.asarray(file[name]) for name in names if isinstance(file[name], h5py.Dataset)}
    return {name: value for name, value in values.items() if value.dtype == np.float32}
