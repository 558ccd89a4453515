"""Record what PyTorch's recurrent modules give, for the tests of weight conversion.

    python benchmarks/pytorch_reference.py      # writes tests/layers/pytorch_reference.npz

It needs the `benchmarks` extra (torch) and nothing of elman. The tests read the file, and call `reference` themselves
where torch can be imported.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SEED = 20
FILE = Path(__file__).parents[1] / "tests" / "layers" / "pytorch_reference.npz"


class Case(NamedTuple):
    """A module and the sizes of its inputs."""

    module: str
    input_dim: int = 3
    units: int = 2
    num_layers: int = 1
    bidirectional: bool = False
    bias: bool = True
    nonlinearity: str = "tanh"
    batch: int = 4
    steps: int = 5

    def label(self) -> str:
        """A name for files and tests."""
        words = [self.module.lower(), f"{self.input_dim}x{self.units}"]
        words += [f"{self.num_layers}-layers"] * (self.num_layers > 1) + ["bidirectional"] * self.bidirectional
        words += ["no-bias"] * (not self.bias) + [self.nonlinearity] * (self.nonlinearity != "tanh")
        return "-".join(words)


CASES = [
    *(Case(module) for module in ("RNN", "LSTM", "GRU")),
    Case("RNN", nonlinearity="relu"),
    *(Case(module, num_layers=2) for module in ("RNN", "LSTM", "GRU")),
    *(Case(module, bidirectional=True) for module in ("RNN", "LSTM", "GRU")),
    *(Case(module, bias=False) for module in ("LSTM", "GRU")),
    *(
        Case(module, input_dim=5, units=6, num_layers=2, bidirectional=True, batch=3, steps=11)
        for module in ("RNN", "LSTM", "GRU")
    ),
]


def reference(case: Case) -> dict[str, np.ndarray]:
    """Return weights, inputs, outputs and gradients of a module with random weights, all biases distinct.

    Keys: `weights/<name>` and `gradients/<name>` for each name of the state dict; `inputs` (B, T, D); `initial` and
    `last` (S, L directions, B, U), with S = 2 (h, c) for LSTM and 1 otherwise; `outputs` (B, T, directions U);
    `inputs_gradient`, `initial_gradient`. The gradients are those of sum cos(outputs) + sum cos(2 last).
    """
    import torch

    torch.manual_seed(SEED)
    module = _module(case)
    for parameter in module.parameters():
        # The size that PyTorch starts with: far larger weights would blow rounding errors up from step to step.
        torch.nn.init.normal_(parameter, std=0.7 * case.units**-0.5)
    directions = case.num_layers * (1 + case.bidirectional)
    inputs = torch.randn(case.batch, case.steps, case.input_dim, requires_grad=True)
    states = 2 if case.module == "LSTM" else 1
    initial = torch.randn(states, directions, case.batch, case.units, requires_grad=True)
    outputs, last = module(inputs, tuple(initial) if states == 2 else initial[0])
    last = torch.stack(last) if states == 2 else last[None]
    (torch.cos(outputs).sum() + torch.cos(2 * last).sum()).backward()
    arrays = {
        "inputs": inputs, "initial": initial, "outputs": outputs, "last": last,
        "inputs_gradient": inputs.grad, "initial_gradient": initial.grad,
    }  # fmt: skip
    for name, parameter in module.named_parameters():
        arrays |= {f"weights/{name}": parameter, f"gradients/{name}": parameter.grad}
    return {name: tensor.detach().numpy() for name, tensor in arrays.items()}


def _module(case: Case) -> Any:
    import torch

    options: dict[str, Any] = {"nonlinearity": case.nonlinearity} if case.module == "RNN" else {}
    return getattr(torch.nn, case.module)(
        case.input_dim,
        case.units,
        num_layers=case.num_layers,
        bidirectional=case.bidirectional,
        bias=case.bias,
        batch_first=True,
        **options,
    )


def pack(arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, list[int]]]:
    """Return all arrays in one flat array, and their shapes: a file of many small arrays is mostly headers."""
    return np.concatenate([array.ravel() for array in arrays.values()]), {k: list(a.shape) for k, a in arrays.items()}


def recorded(case: Case, file: Path = FILE) -> dict[str, np.ndarray]:
    """Return what `reference` gave when the file was made."""
    with np.load(file) as archive:
        shapes = json.loads(str(archive["about"]))["shapes"][case.label()]
        flat = archive[case.label()]
    arrays = {}
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        arrays[name], flat = flat[:size].reshape(shape), flat[size:]
    return arrays


def main() -> None:
    """Write the file."""
    import torch

    packed = {case.label(): pack(reference(case)) for case in CASES}
    about = {
        "seed": SEED,
        "torch": torch.__version__,
        "command": "python benchmarks/pytorch_reference.py",
        "shapes": {label: shapes for label, (_, shapes) in packed.items()},
    }
    flat = {label: array for label, (array, _) in packed.items()}
    np.savez_compressed(FILE, about=np.array(json.dumps(about)), **flat)
    print(f"{FILE}: {len(CASES)} modules, {FILE.stat().st_size:,} bytes, torch {torch.__version__}, seed {SEED}")


if __name__ == "__main__":
    main()
