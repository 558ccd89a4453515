"""Sizes and speed of exported models beside Keras: `python -m benchmarks.export`.

Classifiers and language models of the sizes in params.yaml, with fresh weights, on which neither depends. Times are
the fastest of rounds in which all take turns, in one process with two threads each: other work only adds to it. Writes
benchmarks/export.json. Needs the extra `export` and onnxruntime.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from elman.artifacts import write_json
from elman.stages import quiet_tensorflow

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "export.json"
CELLS = ("simple_rnn", "lstm", "gru")
THREADS = 2
STEPS = 128
ROUNDS = 30
Runs = dict[str, Callable[[], Any]]


def spec(task: str, cell: str) -> Any:
    """The model that params.yaml describes, before a search."""
    from elman.config import load_params
    from elman.models.spec import ModelSpec

    params = load_params(ROOT / "params.yaml")
    section = params.classifier if task == "classifier" else params.language_model
    own: dict[str, Any] = {"tie_embeddings": params.language_model.tie_embeddings}
    if task == "classifier":
        own = {"num_classes": 8, "bidirectional": section.bidirectional, "pooling": section.pooling}
    return ModelSpec(
        task=task,  # type: ignore[arg-type]
        cell=cell,  # type: ignore[arg-type]
        vocab_size=params.tokenizer.vocab_size,
        embedding_dim=section.embedding_dim,
        units=section.units,
        num_layers=section.num_layers,
        **own,
    )


def classifier_runs(model: Any, files: dict[str, Path], ids: Any) -> Runs:
    """By name, a call that classifies all rows of `ids`, int32 (B, T)."""
    import numpy as np
    import tensorflow as tf

    from elman.models.scoring import IDS, MASK

    @tf.function(input_signature=[IDS, MASK])
    def keras_model(token_ids: Any, padding_mask: Any) -> Any:
        return tf.nn.softmax(model(token_ids, padding_mask=padding_mask, training=False))

    mask = np.ones_like(ids, bool)
    session, runner = onnx_session(files["onnx"]), litert_runner(files["litert"])
    return {
        "keras": lambda: keras_model(ids, mask).numpy(),
        "onnx": lambda: session.run(["probabilities"], {"token_ids": ids}),
        "litert": lambda: [runner(token_ids=row[None]) for row in ids],
    }


def language_model_runs(model: Any, files: dict[str, Path], ids: Any) -> Runs:
    """By name, a call that reads the rows of `ids`, int32 (1, T), step by step."""
    import numpy as np
    import tensorflow as tf

    from elman.models.scoring import IDS, state_spec

    @tf.function(input_signature=[IDS, state_spec(model)])
    def keras_step(token_ids: Any, state: Any) -> Any:
        logits, state = model(token_ids, tf.ones_like(token_ids, tf.bool), state, training=False)
        return tf.nn.log_softmax(logits), state

    session, runner = onnx_session(files["onnx"]), litert_runner(files["litert"])
    zeros = [np.zeros((1, model.spec.units), np.float32) for _ in model.encoder.zero_state(1)]
    names = [f"state_{place}" for place in range(len(zeros))]

    def with_keras() -> None:
        state = tuple(tf.constant(part) for part in zeros)
        for token in ids[0]:
            _, state = keras_step(token[None, None], state)

    def with_onnx() -> None:
        feed = dict(zip(names, zeros, strict=True))
        for token in ids[0]:
            _, *new = session.run(None, {"token_ids": token[None, None], **feed})
            feed = dict(zip(names, new, strict=True))

    def with_litert() -> None:
        feed = dict(zip(names, zeros, strict=True))
        for token in ids[0]:
            answer = runner(token_ids=token[None], **feed)
            feed = {name: answer[f"new_{name}"] for name in names}

    return {"keras": with_keras, "onnx": with_onnx, "litert": with_litert}


def onnx_session(path: Path) -> Any:
    """With as many threads as all others."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def litert_runner(path: Path) -> Any:
    """With as many threads as all others."""
    from ai_edge_litert.interpreter import Interpreter

    return Interpreter(str(path), num_threads=THREADS).get_signature_runner()


def timed(runs: Runs) -> dict[str, float]:
    """Milliseconds of each, the fastest of rounds in which all take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    return {name: round(1000 * min(times), 3) for name, times in seconds.items()}


def measure(task: str, cell: str, folder: Path) -> dict[str, Any]:
    """Sizes in bytes and milliseconds of one model in all formats."""
    import numpy as np

    from elman.exporting import litert_file, onnx_file
    from elman.exporting.source import Source, plain_copy
    from elman.models.store import build_model

    model = build_model(spec(task, cell))
    source = Source(plain_copy(model), None, folder)  # type: ignore[arg-type]
    folder.mkdir()
    onnx_file.write(source, folder)
    litert_file.write(source, folder)
    model.save(folder / "model.keras")
    files = {"keras": folder / "model.keras", "onnx": folder / onnx_file.FILE, "litert": folder / litert_file.FILE}
    random = np.random.default_rng(3)
    row = {"task": task, "cell": cell, "bytes": {name: path.stat().st_size for name, path in files.items()}}
    if task == "language_model":
        ids = random.integers(4, model.spec.vocab_size, (1, STEPS)).astype(np.int32)
        by_name = timed(language_model_runs(model, files, ids))
        return {**row, "milliseconds_a_step": {name: round(value / STEPS, 4) for name, value in by_name.items()}}
    times = {}
    for rows in (1, 64):
        ids = random.integers(4, model.spec.vocab_size, (rows, STEPS)).astype(np.int32)
        times[str(rows)] = timed(classifier_runs(model, files, ids))
    return {**row, "milliseconds_a_batch": times}


def table(results: dict[str, Any]) -> str:
    """The rows as Markdown."""
    lines = ["| model | MB: keras, onnx, litert | ms: keras | onnx | litert |", "|---|---|---:|---:|---:|"]
    for row in results["rows"]:
        sizes = ", ".join(f"{row['bytes'][name] / 1e6:.2f}" for name in ("keras", "onnx", "litert"))
        kinds = {f"{rows} x {STEPS}": times for rows, times in row.get("milliseconds_a_batch", {}).items()}
        if "milliseconds_a_step" in row:
            kinds = {"one step": row["milliseconds_a_step"]}
        for kind, times in kinds.items():
            figures = " | ".join(f"{times[name]:.3g}" for name in ("keras", "onnx", "litert"))
            lines.append(f"| {row['task'].replace('_', ' ')} {row['cell']}, {kind} | {sizes} | {figures} |")
    return "\n".join(lines)


def main() -> None:
    """Measures, writes and prints; `--only-print` prints what is recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only-print", action="store_true")
    if parser.parse_args().only_print:
        print(table(json.loads(RESULTS.read_text(encoding="utf-8"))))
        return
    quiet_tensorflow()
    from elman.exporting.formats import check_installed
    from elman.models.device import configure_device

    for form in ("onnx", "litert"):
        check_installed(form)
    configure_device(device="cpu", threads=THREADS, mixed_precision=False, deterministic=False)
    with tempfile.TemporaryDirectory() as name:
        rows = [
            measure(task, cell, Path(name) / f"{task}-{cell}")
            for task in ("classifier", "language_model")
            for cell in CELLS
        ]
    results = {
        "version": 1,
        "threads": THREADS,
        "cores": os.cpu_count(),
        "steps": STEPS,
        "rounds": ROUNDS,
        "rows": rows,
    }
    write_json(RESULTS, results)
    print(table(results))


if __name__ == "__main__":
    main()
