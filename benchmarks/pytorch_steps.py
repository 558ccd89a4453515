"""The first training steps of a preset, here and in PyTorch: `python -m benchmarks.pytorch_steps ptb-zaremba-small`.

Both start from the same weights and see the same random windows, without dropout; PyTorch computes in float64. Loss and
norm of the gradient agree only where layers, loss, its scale, clipping and update are the same. Needs the extra
`benchmarks`. Ends with 1 where they differ by more than 1e-4, relative.
"""

import argparse
import dataclasses
import sys
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.reproduce import find_preset
from elman.config import LanguageModelConfig, load_params
from elman.models.language_model import LanguageModel
from elman.models.spec import ModelSpec
from elman.models.store import build_model
from elman.stages import run_stage
from elman.training.gradients import make_optimizer, make_train_step
from elman.training.objectives import LanguageModelObjective
from tests.helpers.documents import random_documents

VOCAB_SIZE = 10_002
TYPES = 200  # that stand in the text: few, so that the gradient grows and is clipped within a few steps
TOLERANCE = 1e-4


def main() -> None:
    """Prints a line a step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preset", help="a preset with an LSTM language model")
    parser.add_argument("--steps", type=int, default=8)
    arguments = parser.parse_args()
    config = load_params(find_preset(arguments.preset)).language_model
    config = config.model_copy(update={"embedding_dropout": 0.0, "dropout": 0.0})
    weights, windows, ours = train_here(config, arguments.steps)
    theirs = train_there(config, weights, windows)
    worst = 0.0
    for step, (mine, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        worst = max(worst, *(abs(a - b) / abs(b) for a, b in zip(mine, other, strict=True)))
        print(f"step {step}: loss {mine[0]:.6f} here, {other[0]:.6f} there; norm {mine[1]:.6f}, {other[1]:.6f}")
    print(f"largest relative difference {worst:.1e}, allowed {TOLERANCE:g}")
    if worst > TOLERANCE:
        sys.exit(1)


def train_here(config: LanguageModelConfig, steps: int) -> tuple[dict[str, Any], list[Any], list[tuple[float, float]]]:
    """Weights by name before the first step, the windows, and (loss, norm) of each step."""
    shared = {field.name for field in dataclasses.fields(ModelSpec)} & set(type(config).model_fields)
    settings = {name: getattr(config, name) for name in shared}
    model = build_model(ModelSpec(task="language_model", cell="lstm", vocab_size=VOCAB_SIZE, seed=1, **settings))
    assert isinstance(model, LanguageModel)
    documents = random_documents([steps * config.window_length] * config.batch_size, vocab_size=TYPES)
    objective = LanguageModelObjective(model, config, documents, documents, seed=1)
    clips = {"global_clipnorm": config.global_clipnorm, "clipnorm": config.clipnorm}
    step = make_train_step(model, make_optimizer(config), objective.loss, objective.signature, **clips)
    weights = {weight.path: weight.numpy().copy() for weight in model.weights}
    windows, found, state = [], [], None
    for batch in objective.batches(0):
        state = objective.first_state(batch) if state is None else state
        result = step(*batch.tensors, state)
        state = result.state
        windows.append(batch.tensors[:2])
        found.append((float(result.nll_sum) / int(result.count), float(result.gradient_norm)))
    return weights, windows, found


def train_there(config: LanguageModelConfig, weights: dict[str, Any], windows: list[Any]) -> list[tuple[float, float]]:
    """(loss, norm) of each step of PyTorch's example, on a model that starts from `weights`."""

    def tensors(end: str) -> list[torch.Tensor]:
        return [torch.from_numpy(value).double() for path, value in weights.items() if path.endswith(end)]

    lstm = nn.LSTM(config.embedding_dim, config.units, config.num_layers).double()
    embedding = nn.Parameter(tensors("/embeddings")[0])
    output = embedding if config.tie_embeddings else nn.Parameter(tensors("/output_kernel")[0])
    bias = nn.Parameter(tensors("/output_bias")[0])
    with torch.no_grad():
        for layer in range(config.num_layers):  # both have the gates in the order i, f, g, o
            getattr(lstm, f"weight_ih_l{layer}").copy_(tensors("/kernel")[layer].T)
            getattr(lstm, f"weight_hh_l{layer}").copy_(tensors("/recurrent_kernel")[layer].T)
            getattr(lstm, f"bias_ih_l{layer}").copy_(tensors("/bias")[layer])
            getattr(lstm, f"bias_hh_l{layer}").zero_()
    # Keras has one bias vector a layer; with PyTorch's second one its gradient would count twice in the norm.
    learned = [value for name, value in lstm.named_parameters() if "bias_hh" not in name]
    learned += [embedding, bias] + ([] if output is embedding else [output])
    state, found = None, []
    for token_ids, targets in windows:
        inputs = embedding[torch.from_numpy(np.ascontiguousarray(token_ids.T)).long()]  # (T, B, D)
        hidden, state = lstm(inputs, state)
        state = tuple(part.detach() for part in state)
        logits = hidden.reshape(-1, config.units) @ output.T + bias  # (T B, V)
        loss = nn.functional.cross_entropy(logits, torch.from_numpy(targets.T.reshape(-1)).long())
        gradients = torch.autograd.grad(loss, learned)
        norm = torch.sqrt(sum((gradient**2).sum() for gradient in gradients))
        scale = min(1.0, config.global_clipnorm / float(norm)) if config.global_clipnorm else 1.0
        with torch.no_grad():
            for value, gradient in zip(learned, gradients, strict=True):
                value.sub_(config.learning_rate * scale * gradient)
        found.append((loss.item(), norm.item()))
    return found


if __name__ == "__main__":
    run_stage("pytorch_steps", main)
