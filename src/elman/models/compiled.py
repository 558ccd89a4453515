"""How a function of tensors is compiled."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf


def compiled(signature: Sequence[Any]) -> Callable[[Callable[..., Any]], Any]:
    """Makes one graph of a function, for all shapes that the signature allows.

    Without AutoGraph, which would rewrite the function's source and that of all that it calls, so that Python's `if`
    and `for` may depend on tensors: none here does, and rewriting takes longer than all else of the compilation.

    Args:
        signature: A `tf.TensorSpec` for each argument, or a nest of them.
    """
    return tf.function(input_signature=signature, autograph=False)
