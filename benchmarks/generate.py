"""Times a step of generation after 10 tokens and after 10,000: python -m benchmarks.generate.

A language model of the default size with fresh weights, whose eos is never drawn; what a step costs does not depend on
what the weights are.
"""

import os
import tempfile
import time
from pathlib import Path

import numpy as np

import elman
from benchmarks.default_model import write_default_model
from elman.artifacts import write_json
from elman.data.tokenizer import EOS_ID

LENGTHS = (10, 10_000)
STEPS = 500  # timed from each length on
CASES = [("lstm", "top_p", 1), ("lstm", "greedy", 1), ("lstm", "top_p", 8), ("gru", "top_p", 1)]


def main() -> None:
    """Writes benchmarks/generate.json."""
    rows = []
    for cell, sampler, samples in CASES:
        with tempfile.TemporaryDirectory() as folder:
            model = elman.load(write_default_model(Path(folder), cell=cell))
        bias = model.model.output_bias.numpy()
        bias[EOS_ID] = -1e9
        model.model.output_bias.assign(bias)
        row = {"cell": cell, "sampler": sampler, "samples": samples, **_time(model, sampler, samples)}
        print(row, flush=True)
        rows.append(row)
    model_size = {"units": model.model.spec.units, "vocab_size": model.model.spec.vocab_size}
    size = {"timed_steps": STEPS, "cores": os.cpu_count(), **model_size}
    write_json(Path(__file__).parent / "generate.json", {"version": 1, **size, "rows": rows})


def _time(model, sampler: str, samples: int) -> dict[str, float]:
    """Median and quartiles of a step's milliseconds after each length, and of the first token of a fresh call."""
    from elman.using.generating.sampling import make_sampling

    options = {"sampling": make_sampling(sampler=sampler), "samples": samples, "seed": 1}
    prompt = model.generator.prompt("ba")
    list(model.generator.chunks(prompt, max_tokens=2, **options))  # compiled by then
    chunks = model.generator.chunks(prompt, max_tokens=LENGTHS[-1] + STEPS, **options)
    ends = [time.perf_counter() for chunk in chunks if chunk.sample == samples - 1 and chunk.token_id is not None]
    seconds = np.diff(ends)  # of the second token and all after it
    found = {}
    for length in LENGTHS:
        quartiles = 1000 * np.percentile(seconds[length : length + STEPS], [25, 50, 75])
        names = (f"ms_at_{length}_{name}" for name in ("low", "median", "high"))
        found |= dict(zip(names, np.round(quartiles, 3).tolist(), strict=True))
    return found


if __name__ == "__main__":
    main()
