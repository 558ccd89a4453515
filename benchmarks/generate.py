"""Times a step of generation after 10 tokens and after 10,000: python -m benchmarks.generate.

Two texts are gone on with in turns, one from its 10th token on and one from its 10,000th, so that other work on the
machine slows both. A language model of the default size with fresh weights, whose eos is never drawn; what a step costs
does not depend on what the weights are.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import elman
from benchmarks.default_model import write_default_model
from elman.artifacts import write_json
from elman.data.tokenizer import EOS_ID

LENGTHS = (10, 10_000)
STEPS = 500  # timed from each length on
CASES = [("lstm", "top_p", 1), ("gru", "greedy", 8)]


def main() -> None:
    """Writes benchmarks/generate.json."""
    rows = []
    for cell, sampler, samples in CASES:
        with tempfile.TemporaryDirectory() as folder:
            model = elman.load(write_default_model(Path(folder), cell=cell))
        bias = model.model.output_bias.numpy()
        bias[EOS_ID] = -1e9
        model.model.output_bias.assign(bias)
        rows.append({"cell": cell, "sampler": sampler, "samples": samples, **_time(model, sampler, samples)})
        print(rows[-1], flush=True)
    model_size = {"units": model.model.spec.units, "vocab_size": model.model.spec.vocab_size}
    size = {"timed_steps": STEPS, "cores": os.cpu_count(), **model_size}
    write_json(Path(__file__).parent / "generate.json", {"version": 1, **size, "rows": rows})


def _time(model: Any, sampler: str, samples: int) -> dict[str, float]:
    """Milliseconds of a step after each length, median and quartiles, and the median ratio of two steps in turn."""
    from elman.using.generating.sampling import make_sampling

    sampling = make_sampling(sampler=sampler)
    prompt = model.generator.prompt("ba")

    def after(length: int) -> Iterator[Any]:
        options = {"sampling": sampling, "samples": samples, "max_tokens": length + STEPS, "seed": 1}
        chunks = model.generator.chunks(prompt, **options)
        for _ in range(length * samples):
            next(chunks)
        return chunks

    texts = [after(length) for length in LENGTHS]
    seconds = np.zeros((STEPS, len(LENGTHS)))
    for number in range(STEPS):
        for place, chunks in enumerate(texts):
            started = time.perf_counter()
            for _ in range(samples):
                next(chunks)
            seconds[number, place] = time.perf_counter() - started
    found: dict[str, float] = {}
    for place, length in enumerate(LENGTHS):
        quartiles = 1000 * np.percentile(seconds[:, place], [25, 50, 75])
        names = (f"ms_at_{length}_{name}" for name in ("low", "median", "high"))
        found |= dict(zip(names, np.round(quartiles, 3).tolist(), strict=True))
    return {**found, "ratio_of_pairs": round(float(np.median(seconds[:, 1] / seconds[:, 0])), 3)}


if __name__ == "__main__":
    main()
