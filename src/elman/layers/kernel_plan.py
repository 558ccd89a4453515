"""Which implementation a recurrent layer runs on, known before it runs."""

from dataclasses import dataclass
from typing import Any, Literal

import keras

KernelName = Literal["cuDNN", "CPU kernel", "generic loop"]


@dataclass(frozen=True)
class KernelPlan:
    """The implementation that a layer runs on, and why.

    Attributes:
        name: "cuDNN", "CPU kernel" (whole sequence in one call) or "generic loop" (Keras' loop of small operations).
        reason: Why it is this one, in words that complete "<name>: ...".
    """

    name: KernelName
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def kernel_plan(layer: Any, gpu: bool) -> KernelPlan:
    """Return which implementation a recurrent layer of this package runs on.

    The layers ask this function themselves, so what it says is what runs.

    Args:
        layer: A `SimpleRNN`, `LSTM` or `GRU` of `elman.layers`.
        gpu: Whether TensorFlow sees a GPU.

    Returns:
        The plan. On a GPU there is one thing it cannot know: cuDNN wants masks that are padded on the right and have no
        row without a real step.
    """
    if layer.loop == "generic":
        return KernelPlan("generic loop", 'loop="generic" was asked for')
    obstacle = _obstacle(layer, gpu=gpu)
    if obstacle:
        return KernelPlan("generic loop", f"{obstacle} is not supported by the fast kernels")
    if gpu:
        return KernelPlan("cuDNN", "a GPU is there and the options allow it")
    return KernelPlan("CPU kernel", "no GPU, and the options allow it")


def _obstacle(layer: Any, *, gpu: bool) -> str | None:
    """Return the first option that keeps a layer from its fast kernel."""
    cell = layer.cell
    if layer.recurrent_dropout:
        return f"recurrent_dropout {layer.recurrent_dropout}"
    if layer.unroll:
        return "unroll"
    if layer.activation is not keras.activations.tanh:
        return f"activation {_name(layer.activation)}"
    if getattr(layer, "recurrent_activation", keras.activations.sigmoid) is not keras.activations.sigmoid:
        return f"recurrent_activation {_name(layer.recurrent_activation)}"
    if not getattr(cell, "reset_after", True):
        return "reset_after=False"
    if layer.dropout and getattr(cell, "implementation", 2) == 1:
        return "implementation=1 with dropout"
    if layer.compute_dtype == "float64":
        return "float64"
    return _gpu_obstacle(layer) if gpu else None


def _gpu_obstacle(layer: Any) -> str | None:
    if not hasattr(layer, "use_cudnn"):
        return "SimpleRNN on a GPU"
    if layer.use_cudnn is False:
        return "use_cudnn=False on a GPU"
    return None if layer.use_bias else "use_bias=False on a GPU"


def _name(activation: Any) -> str:
    return getattr(activation, "__name__", str(activation))
