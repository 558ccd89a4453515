"""Where training and evaluation run; set once, before TensorFlow has made anything."""

import ctypes
import sys
from typing import NamedTuple

import keras
import tensorflow as tf

from elman.errors import DeviceError


class DevicePlan(NamedTuple):
    """What was found and set.

    Attributes:
        kind: "gpu" or "cpu".
        name: The GPU's name, or the number of CPU threads.
        precision: Keras' dtype policy.
        deterministic: Whether TensorFlow's deterministic kernels are on.
    """

    kind: str
    name: str
    precision: str
    deterministic: bool


def configure_device(*, device: str, threads: int | None, mixed_precision: bool, deterministic: bool) -> DevicePlan:
    """Chooses the device and sets threads, memory growth, precision and determinism for the process.

    Raises:
        DeviceError: `device` is gpu and TensorFlow sees none; a job must not run for hours on the wrong device.
    """
    gpus = tf.config.list_physical_devices("GPU")
    if device == "gpu" and not gpus:
        raise DeviceError(
            "compute.device is gpu, but TensorFlow sees no GPU here; install the gpu extra (pip install 'elman[gpu]') "
            "and check nvidia-smi, or set compute.device to auto or cpu in params.yaml"
        )
    if device == "cpu" and gpus:
        tf.config.set_visible_devices([], "GPU")
        gpus = []
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    if threads is not None:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    if deterministic:
        tf.config.experimental.enable_op_determinism()
    _keep_freed_memory()
    # bfloat16 has float32's range, so that no loss scaling is needed.
    keras.mixed_precision.set_global_policy("mixed_bfloat16" if mixed_precision else "float32")
    name = gpus[0].name if gpus else f"{threads or 'all'} threads"
    return DevicePlan("gpu" if gpus else "cpu", name, keras.mixed_precision.global_policy().name, deterministic)


def _keep_freed_memory() -> None:
    """Tell the C library to keep freed memory for the next step instead of giving it back to the system.

    A step frees and asks for tens of megabytes; coming fresh from the system each time, they cost a page fault for each
    4 kB. Only glibc has these two settings; elsewhere nothing changes.
    """
    trim_threshold, mmap_threshold = -1, -3  # from glibc's malloc.h
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(trim_threshold, 2**31 - 1)
        mallopt(mmap_threshold, 32 * 2**20)
