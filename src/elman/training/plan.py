"""What will be computed where, said before training starts."""

from typing import Any

import keras
import numpy as np

from elman.layers.kernel_plan import kernel_plan
from elman.layers.lstm import LSTM
from elman.models.device import DevicePlan
from elman.models.store import Model
from elman.training.pretraining import Start


def make_plan(
    model: Model, device: DevicePlan, *, equal_to: str | None = None, start: Start | None = None
) -> dict[str, Any]:
    """Device, precision, parameters; for each recurrent layer its kernel and why, and what an LSTM's forget gate sees.

    Args:
        model: Built.
        device: Where it will be trained.
        equal_to: The cell whose number of parameters chose the units, or None.
        start: What the first seed's weights are copied from, or None.

    Returns:
        Plain values, written as plan.json and logged with the run.
    """
    layers = []
    for layer in model.encoder.recurrent_layers:
        inner = layer.forward_layer if isinstance(layer, keras.layers.Bidirectional) else layer
        chosen = kernel_plan(inner, gpu=device.kind == "gpu")
        row = {"layer": layer.name, "kernel": chosen.name, "reason": chosen.reason}
        if isinstance(inner, LSTM):
            row["forget_bias"] = float(np.mean(inner.forget_gate_bias))  # read back: what the gate sees
        layers.append(row)
    return {
        "task": model.spec.task,
        "cell": model.spec.cell,
        "device": device.kind,
        "device_name": device.name,
        "precision": device.precision,
        "deterministic": device.deterministic,
        "parameters": model.count_params(),
        "units": model.spec.units,
        "equal_parameters": equal_to,
        "start": None if start is None else start.facts(),
        "layers": layers,
    }


def plan_lines(plan: dict[str, Any]) -> list[str]:
    """The plan in words, one line a fact."""
    head = (
        f"plan: {plan['task']} {plan['cell']} on {plan['device']} ({plan['device_name']}), {plan['precision']}, "
        f"{plan['parameters']:,} parameters, {plan['units']} units"
    )
    if plan["equal_parameters"] not in (None, plan["cell"]):
        head += f" (chosen to have as many parameters as {plan['equal_parameters']})"
    rows = [head]
    if plan["start"] is not None:
        source, copied = plan["start"]["source"], ", ".join(plan["start"]["copied"])
        rows.append(f"  starts from {source} ({copied}); the head is drawn")
    return [*rows, *(f"  {row['layer']}: {row['kernel']} ({row['reason']})" for row in plan["layers"])]
