"""Trains a preset and puts its figure beside the published one: `make reproduce PRESET=name DATA=/path/to/data`.

Runs the pipeline's own scripts, one after the other, in `reproduce/<preset>/`, so that the main pipeline's data, models
and reports stay as they are; the runs go to the same tracking store. A text that the catalog knows is checked: the MD5
sums of its files before anything runs, its token counts once it is encoded, and the add-one unigram perplexities, which
come out right only where every token is counted as in the publications. A call that was stopped is gone on with by the
same call; finished stages are not run again until preset, data or code change.
"""

import argparse
import difflib
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elman.artifacts import read_json, sha256_paths, write_json, write_text
from elman.baselines.unigram import unigram_log_probabilities
from elman.config import Params, load_params
from elman.data.catalog import DATASETS, KNOWN_TEXTS, KnownText
from elman.data.token_counts import count_tokens
from elman.data.verification import verify_counts, verify_files
from elman.errors import ConfigError, DataError, ElmanError
from elman.reporting.comparison import read_comparison
from elman.reporting.measures import number
from elman.reporting.table import print_tables
from elman.stages import run_stage
from elman.training.provenance import code_hash, params_hash

ROOT = Path(__file__).resolve().parents[1]


class Published(NamedTuple):
    """A figure on test that was published for a preset."""

    measure: str
    value: float
    source: str


_PYTORCH = "PyTorch's examples, word_language_model"
_BI_LSTM = Published("accuracy", 0.963, "Yao, Mao and Luo 2019, Bi-LSTM with GloVe vectors")
PUBLISHED = {
    "ptb-word-language-model": Published("perplexity", 110.4, f"{_PYTORCH}, --tied"),
    "ptb-word-language-model-untied": Published("perplexity", 117.6, _PYTORCH),
    "r8-bidirectional": _BI_LSTM,
    "r8-adversarial": _BI_LSTM,
    "ptb-zaremba-small": Published("perplexity", 114.5, "Zaremba, Sutskever and Vinyals 2014, non-regularized LSTM"),
}


class StageFailedError(ElmanError):
    """A stage ended with an error, which it has printed; the exit code is its own."""

    def __init__(self, stage: str, code: int) -> None:
        super().__init__(f"the stage {stage} failed; once that is mended, the same command goes on with it")
        self.exit_code = code


def main() -> None:
    """Runs what is left to run and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preset", help="the name of a file in presets/, without .yaml")
    parser.add_argument("--data", type=Path, help="folder of the data; built-in data sets are fetched")
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output and nothing else")
    arguments = parser.parse_args()
    log = sys.stderr if arguments.json else sys.stdout
    preset = find_preset(arguments.preset)
    params = load_params(preset)
    data, known = find_data(params, arguments.data, log=log)
    folder = ROOT / "reproduce" / preset.stem
    state = open_folder(folder, preset, params, data)
    started = time.perf_counter()
    for stage in stages(params):
        if stage not in state["done"]:
            run_script(stage, folder, log=log, options=report_options(stage, preset.stem, arguments.data))
            state["done"].append(stage)
            state["seconds"] += time.perf_counter() - started
            started = time.perf_counter()
            write_json(folder / "state.json", state)
        if stage == "encode" and known is not None:
            check_counts(folder, known, log=log)
    if not arguments.json:
        print_tables(folder / "reports", params.dataset.tasks)
    result = compare(preset.stem, folder, params, seconds=state["seconds"])
    write_json(folder / "result.json", result)
    print(json.dumps(result) if arguments.json else "\n".join(lines(result)))


def find_preset(name: str) -> Path:
    """The preset's file.

    Raises:
        ConfigError: There is none; the valid names are given.
    """
    names = sorted(path.stem for path in (ROOT / "presets").glob("*.yaml"))
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ConfigError(f"{name!r}: no such preset; {hint}PRESET can be: {', '.join(names)}")
    return ROOT / "presets" / f"{name}.yaml"


def find_data(params: Params, data: Path | None, *, log: Any) -> tuple[Path, KnownText | None]:
    """The folder or file of the preset's data, checked where the catalog knows it.

    Raises:
        DataError: It is not given, missing, or not the one that the figures were published for.
    """
    name = params.dataset.name
    known = KNOWN_TEXTS.get(name)
    if data is None and name in DATASETS:
        data = ROOT / params.dataset.path
        if not data.exists():
            run_script(f"fetch {name}", ROOT, log=log)
    if data is None:
        wanted = f" with {', '.join(known.files)}" if known else ""
        raise DataError(f"the data set {name} is not part of this repository; name it: DATA=/path/to/folder{wanted}")
    if not data.exists():
        raise DataError(f"DATA={data}: no such file or folder")
    if known is not None:
        verify_files(data, known)
        print(f"{data}: the files of {name}, by their MD5 sums", file=log, flush=True)
    return data.resolve(), known


def open_folder(folder: Path, preset: Path, params: Params, data: Path) -> dict[str, Any]:
    """Makes the working folder: params.yaml, a link to the data, and what was done there with the same inputs."""
    link = folder / params.dataset.path
    if Path(params.dataset.path).is_absolute():
        raise ConfigError(f"{preset}: dataset.path must be relative, such as data/raw/{params.dataset.name}")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(data)
    write_text(folder / "params.yaml", preset.read_text(encoding="utf-8"))
    scripts = ROOT / "pipelines"
    inputs = {
        "params": params.model_dump(mode="json"),
        "data": sha256_paths([data], root=data.parent),
        "code": code_hash(),
        "scripts": sha256_paths(sorted(scripts.glob("*.py")), root=scripts),
    }
    state = {"version": 1, "key": params_hash(inputs), "done": [], "seconds": 0.0}
    path = folder / "state.json"
    if path.exists() and (old := read_json(path))["key"] == state["key"]:
        return dict(old)
    return state


def stages(params: Params) -> Iterator[str]:
    """The scripts and their arguments, in the order of dvc.yaml."""
    yield from ("prepare", "train_tokenizer", "encode")
    for task in params.dataset.tasks:
        yield f"baseline {task}"
        for cell in params.experiment.cells:
            yield f"train {task} {cell}"
            yield f"evaluate {task} {cell}"
        yield f"compare {task}"


def report_options(stage: str, preset: str, data: Path | None) -> list[str]:
    """What the report names as the command that makes it; a path of this machine is nothing to a reader."""
    if not stage.startswith("compare "):
        return []
    return ["--command", f"make reproduce PRESET={preset}" + (f" DATA=/path/to/{data.name}" if data else "")]


def run_script(stage: str, folder: Path, *, log: Any, options: Sequence[str] = ()) -> None:
    """Runs one script of the pipeline in `folder`, with more options than those that name the stage.

    Raises:
        StageFailedError: It ended with an error.
    """
    name, *arguments = stage.split()
    quiet = subprocess.DEVNULL if name == "compare" else log  # its table is printed at the end, also by a second call
    print(f"-- {stage}", file=log, flush=True)
    command = [sys.executable, str(ROOT / "pipelines" / f"{name}.py"), *arguments, *options]
    code = subprocess.run(command, cwd=folder, stdout=quiet, check=False).returncode
    if code:
        raise StageFailedError(stage, code if code > 0 else 128 - code)


def check_counts(folder: Path, known: KnownText, *, log: Any) -> None:
    """Checks the encoded text: its token counts, and the unigram perplexity of each split.

    Raises:
        DataError: A number is not the known one.
    """
    encoded = folder / "data" / "encoded"
    summary = read_json(encoded / "summary.json")
    verify_counts(summary, known)
    logs = unigram_log_probabilities(count_tokens(encoded / "train.parquet", summary["vocab_size"]).tokens)
    for split, expected in known.unigram_perplexity.items():
        counts = count_tokens(encoded / f"{split}.parquet", summary["vocab_size"]).tokens
        seen = counts > 0
        found = math.exp(float(-(counts[seen] * logs[seen]).sum()) / int(counts.sum()))
        if round(found, 1) != expected:
            raise DataError(f"{known.name}: unigram perplexity of {split} is {found:.2f}, expected {expected}")
        print(f"{split}: {counts.sum():,} tokens; add-one unigram perplexity {found:.1f}, as known", file=log)


def compare(preset: str, folder: Path, params: Params, *, seconds: float) -> dict[str, Any]:
    """What was measured, and what was published: the content of result.json."""
    tasks = {task: read_comparison(folder / "reports", task) for task in params.dataset.tasks}
    cells = [row for table in tasks.values() for row in table["rows"] if row["kind"] == "cell"]
    published = PUBLISHED.get(preset)
    shown = [row for row in cells if published is None or published.measure in row["measures"]]
    return {
        "version": 1,
        "preset": preset,
        "published": published._asdict() if published else None,
        "seconds": seconds,
        "rows": shown,
    }


def lines(result: dict[str, Any]) -> Iterator[str]:
    """The last words: ours and the published figure, and how long it took."""
    published = result["published"]
    if published is None:
        yield f"{result['preset']}: no published figure stands in benchmarks/reproduce.py"
    else:
        digits = 2 if published["measure"] == "perplexity" else 4
        for row in result["rows"]:
            found = row["measures"][published["measure"]]
            seeds = f"{len(row['seeds'])} seed{'s' if len(row['seeds']) > 1 else ''}"
            ours = f"{published['measure']} on test {number(found['mean'], digits)} ({seeds})"
            yield f"{result['preset']}, {row['name']}: {ours}; published {published['value']:g} ({published['source']})"
    yield f"{result['seconds'] / 60:.1f} minutes, all finished stages together, in reproduce/{result['preset']}"


if __name__ == "__main__":
    run_stage("reproduce", main)
