"""From the outputs at all steps to one vector a document."""

from typing import Any

import keras
from keras import ops

MODES = ("last", "mean", "max", "all")


@keras.saving.register_keras_serializable(package="elman")
class SequencePooling(keras.layers.Layer):
    """Summarises a sequence by its last true state, its mean, its maximum, or all three side by side.

    The last state alone must carry everything over the whole document; mean and maximum give every step a short way to
    the loss (Howard and Ruder 2018 join the three and call it concat pooling).

    With m the mask: mean = sum_t m_t x_t / max(1, sum_t m_t); max = max over the steps with m_t = 1.

    **Masking**: uses and removes. A document without a real step gives zeros for mean and max.

    Args:
        mode: One of "last", "mean", "max", "all".

    Example:
        >>> import numpy as np
        >>> pool = SequencePooling("mean")
        >>> outputs = np.array([[[2.0], [4.0], [9.0]]], "float32")  # (B, T, U)
        >>> mask = np.array([[True, True, False]])
        >>> float(pool(outputs, last_state=outputs[:, 1], padding_mask=mask)[0, 0])
        3.0

    References:
        howard2018ulmfit
    """

    def __init__(self, mode: str = "all", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if mode not in MODES:
            raise ValueError(f"SequencePooling mode must be one of {', '.join(MODES)}; came {mode!r}")
        self.mode = mode
        self.supports_masking = True

    def build(self, sequence_shape: Any, *_: Any, **__: Any) -> None:
        """There are no weights."""
        self.built = True

    def call(self, sequence: Any, last_state: Any, padding_mask: Any) -> Any:
        """Pools.

        Args:
            sequence: float (B, T, U). Outputs at all steps.
            last_state: float (B, U). The state after each row's last true step.
            padding_mask: bool (B, T). True where a step is real.

        Returns:
            float (B, U), or (B, 3 U) for "all", in the order last, mean, max.
        """
        parts = []
        real = ops.expand_dims(padding_mask, -1)  # (B, T, 1)
        if self.mode in ("last", "all"):
            parts.append(last_state)
        if self.mode in ("mean", "all"):
            weight = ops.cast(real, sequence.dtype)
            # where() and not a product: garbage in the padding may be inf or nan, and 0 * nan is nan.
            total = ops.sum(ops.where(real, sequence, 0.0), axis=1)  # (B, U)
            parts.append(total / ops.maximum(ops.sum(weight, axis=1), 1.0))
        if self.mode in ("max", "all"):
            lowest = ops.max(ops.where(real, sequence, -1e4), axis=1)  # (B, U); -1e4 also fits in float16
            parts.append(ops.where(ops.any(real, axis=1), lowest, 0.0))
        return parts[0] if len(parts) == 1 else ops.concatenate(parts, axis=-1)

    def compute_output_shape(self, sequence_shape: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
        """(B, U) or (B, 3 U)."""
        factor = 3 if self.mode == "all" else 1
        return (sequence_shape[0], sequence_shape[-1] * factor)

    def compute_mask(self, *_: Any, **__: Any) -> None:
        """There are no steps left to mask."""

    def get_config(self) -> dict[str, Any]:
        """All constructor arguments."""
        return {**super().get_config(), "mode": self.mode}
