"""First answer and speed of `elman classify`: python -m benchmarks.classify, after `make demo`.

The first answer is timed in new processes, from TensorFlow loaded to one text classified. The speed is that of whole
commands, start and output included, over short documents: the first words of test documents, each of another length.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from elman.artifacts import write_json

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = 20_000
WORDS = range(10, 60)
FIRST = """
import time
from elman.stages import load_tensorflow
load_tensorflow()
started = time.perf_counter()
import elman
elman.load({model!r}, task="classifier").classify([{text!r}])
print(time.perf_counter() - started)
"""


def main() -> None:
    """Writes benchmarks/classify.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classify", description=__doc__)
    parser.add_argument("--cells", nargs="+", default=["simple_rnn", "lstm", "gru"])
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    texts = short_documents(ROOT / "data" / "prepared" / "test.parquet")
    rows: list[dict[str, Any]] = []
    for cell in arguments.cells:
        first = [first_answer(cell, texts[0]) for _ in range(arguments.repeats + 1)][1:]  # the first one warms files
        seconds = [whole_command(cell, texts) for _ in range(3)]
        rows.append(
            {
                "cell": cell,
                "first_answer_seconds": [min(first), statistics.median(first), max(first)],
                "command_seconds": [min(seconds), statistics.median(seconds), max(seconds)],
                "documents_per_minute": round(60 * DOCUMENTS / statistics.median(seconds)),
            }
        )
        print(rows[-1], flush=True)
    facts = {"documents": DOCUMENTS, "mean_words": statistics.mean(len(text.split()) for text in texts)}
    write_json(Path(__file__).parent / "classify.json", {"version": 1, "cores": os.cpu_count(), **facts, "rows": rows})


def short_documents(path: Path) -> list[str]:
    """The first words of test documents, 10 to 59 of them, until there are enough."""
    documents = [text.split() for text in pq.read_table(path, columns=["text"])["text"].to_pylist()]
    chosen = ((documents[n % len(documents)], WORDS[n % len(WORDS)]) for n in range(DOCUMENTS))
    return [" ".join(words[:length]) for words, length in chosen]


def first_answer(cell: str, text: str) -> float:
    """Seconds from TensorFlow loaded to the first text classified, in a process of its own."""
    code = FIRST.format(model=cell, text=text)
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return float(run.stdout)


def whole_command(cell: str, texts: list[str]) -> float:
    """Seconds of `elman classify` over a file with a text a line."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.txt"
        file.write_text("\n".join(texts) + "\n", encoding="utf-8")
        command = ["elman", "classify", cell, "--file", str(file), "--json"]
        started = time.perf_counter()
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - started
    if len(run.stdout.splitlines()) != len(texts):
        raise SystemExit(f"{len(texts)} texts went in, {len(run.stdout.splitlines())} answers came out")
    return seconds


if __name__ == "__main__":
    main()
