"""Arrays by name from a file that cannot run code: .safetensors or .npz."""

import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from elman.errors import ConversionError

Array = npt.NDArray[np.float32]
Arrays = dict[str, Array]

_PICKLES = (".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle")
_HOW = (
    'in PyTorch, write `from safetensors.torch import save_model; save_model(model, "weights.safetensors")`, or '
    '`numpy.savez("weights.npz", **{name: x.numpy() for name, x in model.state_dict().items()})`'
)


def read_weights(path: Path) -> Arrays:
    """Float arrays by name, as float32.

    Raises:
        ConversionError: The file is missing, damaged, a pickle (which runs code when it is read), or holds something
            else than finite floats.
    """
    suffix = path.suffix.lower()
    if suffix in _PICKLES:
        raise ConversionError(f"{path}: a pickle runs code when it is read, so it is not: {_HOW}")
    if suffix not in (".safetensors", ".npz"):
        raise ConversionError(f"{path}: .safetensors or .npz is needed: {_HOW}")
    if not path.is_file():
        raise ConversionError(f"{path}: no such file")
    found = _safetensors(path) if suffix == ".safetensors" else _npz(path)
    if not found:
        raise ConversionError(f"{path}: holds no array")
    return {name: _floats(array, name, path) for name, array in found.items()}


def _safetensors(path: Path) -> dict[str, npt.NDArray[np.generic]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ConversionError(f"{path}: no usable safetensors file ({error})") from None
    except (TypeError, KeyError, AttributeError) as error:
        raise ConversionError(f"{path}: a type that NumPy does not have ({error}): save it as float32") from None


def _npz(path: Path) -> dict[str, npt.NDArray[np.generic]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, OSError, zipfile.BadZipFile, AttributeError, TypeError) as error:  # TypeError: an .npy file
        raise ConversionError(f"{path}: no usable .npz file of plain arrays ({error}): {_HOW}") from None


def _floats(array: npt.NDArray[np.generic], name: str, path: Path) -> Array:
    if array.dtype.name not in ("float16", "bfloat16", "float32", "float64"):
        raise ConversionError(f"{path}: {name} {array.shape} is {array.dtype}; weights are floats: leave it out")
    with np.errstate(over="ignore"):  # it becomes an infinity
        converted = array.astype(np.float32)
    if not np.isfinite(converted).all():
        raise ConversionError(f"{path}: {name} {array.shape} holds NaN, an infinity or more than float32 can hold")
    return converted
