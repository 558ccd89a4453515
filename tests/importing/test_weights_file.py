"""Arrays from files that cannot run code; all others are refused with what to do."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from elman.errors import ConversionError
from elman.importing.weights_file import read_weights

ARRAYS = {"a.weight": np.arange(6, dtype=np.float32).reshape(2, 3), "a.bias": np.array([0.5, -1.25], np.float64)}


@pytest.mark.parametrize("suffix", ["safetensors", "npz"])
def test_arrays_come_by_name_as_float32(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"weights.{suffix}"
    if suffix == "npz":
        np.savez(path, **ARRAYS)
    else:
        save_file(ARRAYS, path)
    found = read_weights(path)
    assert sorted(found) == sorted(ARRAYS)
    for name, array in found.items():
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, ARRAYS[name])


@pytest.mark.parametrize("name", ["model.pt", "model.PTH", "pytorch_model.bin", "last.ckpt"])
def test_a_pickle_is_refused_unread_with_what_to_write_instead(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        ConversionError, match=r"a pickle runs code when it is read.*from safetensors.torch import save_model"
    ):
        read_weights(tmp_path / name)


def test_a_pickle_inside_an_npz_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "weights.npz"
    np.savez(path, weight=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ConversionError, match=r"no usable \.npz file of plain arrays"):
        read_weights(path)
    path.write_bytes(pickle.dumps([1.0]))
    with pytest.raises(ConversionError, match=r"no usable \.npz file of plain arrays"):
        read_weights(path)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "holds no array"),
        ({"steps": np.array([3, 4])}, r"steps \(2,\) is int64; weights are floats"),
        ({"w": np.array([[1.0, np.nan]])}, r"w \(1, 2\) holds NaN, an infinity"),
        ({"w": np.array([1e300])}, "more than float32 can hold"),
    ],
)
def test_what_are_no_weights_is_refused_with_name_and_shape(
    tmp_path: Path, arrays: dict[str, np.ndarray], message: str
) -> None:
    np.savez(tmp_path / "weights.npz", **arrays)
    with pytest.raises(ConversionError, match=message):
        read_weights(tmp_path / "weights.npz")


def test_a_file_that_is_missing_damaged_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="no such file"):
        read_weights(tmp_path / "weights.npz")
    (tmp_path / "w.safetensors").write_bytes(b"\x00" * 20)
    with pytest.raises(ConversionError, match="no usable safetensors file"):
        read_weights(tmp_path / "w.safetensors")
    np.save(tmp_path / "one.npy", np.ones(3, np.float32))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    with pytest.raises(ConversionError, match=r"one\.npz: no usable \.npz file"):
        read_weights(tmp_path / "one.npz")
    with pytest.raises(ConversionError, match=r"\.safetensors or \.npz is needed"):
        read_weights(tmp_path / "weights.h5")
