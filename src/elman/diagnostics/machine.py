"""What this machine is: versions, devices, threads, memory."""

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from elman.layers.kernels.threads import available_threads

PACKAGES = ("elman", "keras", "tensorflow", "numpy", "numba", "sentencepiece", "dvc", "mlflow")


def describe_machine() -> dict[str, Any]:
    """Return facts that tell one machine from another.

    Returns:
        Plain values: versions, processor, memory in bytes, threads (0 lets TensorFlow choose), devices.
    """
    page = os.sysconf("SC_PAGE_SIZE")
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "versions": {package: version(package) for package in PACKAGES},
        "processor": _processor(),
        "processors_usable": available_threads(),
        "memory_bytes": page * os.sysconf("SC_PHYS_PAGES"),
        "memory_free_bytes": page * os.sysconf("SC_AVPHYS_PAGES"),
        "kernel_threads": tf.config.threading.get_intra_op_parallelism_threads() or available_threads(),
        "intra_op_threads": tf.config.threading.get_intra_op_parallelism_threads(),
        "inter_op_threads": tf.config.threading.get_inter_op_parallelism_threads(),
        "backend": keras.backend.backend(),
        "precision": keras.mixed_precision.global_policy().name,
        "devices": [_device(device) for device in tf.config.list_physical_devices()],
    }


def machine_lines(facts: dict[str, Any]) -> list[str]:
    """Return the facts in words, one line each."""
    threads = ", ".join(
        f"{facts[f'{kind}_threads'] or 'automatic'} {kind}" for kind in ("kernel", "intra_op", "inter_op")
    )
    return [
        "versions: " + ", ".join(f"{n} {v}" for n, v in ({"python": facts["python"]} | facts["versions"]).items()),
        f"processor: {facts['processor']}, {facts['processors_usable']} usable; threads: {threads}",
        f"memory: {facts['memory_bytes'] / 2**30:.1f} GiB, {facts['memory_free_bytes'] / 2**30:.1f} GiB free",
        f"devices: {', '.join(facts['devices'])}; backend {facts['backend']}, {facts['precision']}",
        f"system: {facts['system']}",
    ]


def _device(device: Any) -> str:
    name = tf.config.experimental.get_device_details(device).get("device_name") if device.device_type == "GPU" else None
    return f"{device.device_type} {name}" if name else str(device.device_type)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
