"""Every command and every Python example that the pages show: run here, or by a test that is named here.

The commands of elman run in this process, in one folder with small models; what takes minutes, or needs git, DVC or a
server, is run for real by other tests, and `ELSEWHERE` says by which. Names and options are checked of all of them.
"""

import ast
import importlib
import importlib.util
import re
import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dvc.cli import parse_args as dvc_arguments
from ruamel.yaml import YAML
from safetensors.numpy import save_file
from typer.testing import CliRunner

from docs_tools.commands import app_command
from elman.artifacts import write_json
from elman.cli import app
from elman.packages.writing import write_package
from elman.reporting.comparison import build_comparison
from tests.helpers.project import SMALL, write_reviews
from tests.helpers.reports import write_reports
from tests.helpers.served_models import random_texts, write_served
from tests.helpers.shown_commands import (
    Shown,
    commands_in,
    everything,
    mentioned_in,
    names_of_tests,
    python_in,
    recipes,
    simple_commands,
)
from tests.helpers.stage_deps import ROOT

SHOWN = everything(commands_in)
SET_UP = "sets up a machine or a repository; nothing of ours"
LONG = "takes minutes to hours; that the script is there and takes these arguments is tested here"

# What is not run here: a pattern of whole commands, and the test that runs them (or why there is none).
ELSEWHERE = {
    r"elman doctor": "tests/test_cli_doctor.py",
    r"elman search \S+ \S+": "tests/test_cli_search.py",
    r"elman study .*": "tests/test_cli_study.py",
    r"elman compare (\S+ )*\w+:\w+( \S+)*": "tests/pipeline/test_experiments.py",
    r"elman retrain( --force)?": "tests/pipeline/test_retraining.py",
    r"elman retrain --(dry-run|accept-data)": "tests/test_cli_retrain.py",
    r"elman status": "tests/pipeline/test_retraining.py",
    r"elman rollback": "tests/test_cli_retrain.py",
    r"elman serve.*": "tests/serving/test_stopping.py",
    r"curl .*http://127.0.0.1:8000/.*": "tests/serving/test_app.py",
    r"elman classify models:/.*": "tests/docs/test_commands.py",
    r"(mlflow models serve|curl \S+/invocations) .*": "tests/test_served_model.py",
    r"make demo": "tests/pipeline/test_side_by_side.py",
    r"make (test|slow|check|docs)": "what continuous integration runs (.ci/run)",
    r"make \.venv/installed": SET_UP,
    r"dvc repro": "tests/pipeline/test_repro.py",
    r"dvc (metrics|plots) show.*": "tests/pipeline/test_repro.py",
    r"dvc (exp .*|metrics diff|plots diff .*)": "tests/pipeline/test_experiments.py",
    r"python -m benchmarks\..*": LONG,
    r"pytest .*": "what continuous integration runs (.ci/run)",
    r"(git|cd|source|export|uv) .*": SET_UP,
}
# The same for Python examples: words of the example, and the test.
PYTHON_ELSEWHERE = {
    "module.state_dict()": "tests/layers/test_pytorch_weights.py",
    "load_pytorch_weights(layer": "tests/layers/test_pytorch_weights.py",
    'elman.load("models/classifier/lstm")  # a cell': "tests/using/test_train.py",
    "stream.fork()": "tests/using/test_train.py",
    "elman.train(params": "tests/using/test_train.py",
    "from elman.training.loop import fit": "tests/using/test_train.py",
    "onnxruntime.InferenceSession": "tests/exporting/test_export.py",
    "tf.saved_model.load": "tests/exporting/test_export.py",
    "get_signature_runner": "tests/exporting/test_export.py",
    "Registry.open(": "tests/docs/test_commands.py",
}


def problem_of(words: list[str]) -> str | None:
    """What is wrong with a command of elman as it is written: an unknown name, option or number of arguments."""
    command, rest = app_command(app), words[1:]
    while (below := getattr(command, "commands", None)) is not None:
        if not rest or rest[0] not in below:
            return f"no command {' '.join(rest[:1]) or '(none)'}"
        command, rest = below[rest[0]], rest[1:]
    try:
        command.make_context(command.name, [word for word in rest if word != "--help"])
    except Exception as error:  # typer's own kinds, which differ between its versions
        return None if "--help" in rest and "Missing" in type(error).__name__ else f"{type(error).__name__}: {error}"
    return None


def elsewhere(words: list[str]) -> list[str]:
    """The patterns of `ELSEWHERE` that a command is of."""
    text = " ".join(["elman" if is_elman(words) else words[0], *words[1:]])
    return [pattern for pattern in ELSEWHERE if re.fullmatch(pattern, text)]


def is_elman(words: list[str]) -> bool:
    return Path(words[0]).name == "elman"


def unplaced(shown: list[Shown]) -> list[str]:
    """Commands that are neither elman's, and so run here, nor in the table."""
    every = [(one, words) for one in shown for words, _ in simple_commands(one.text)]
    return [f"{one}: {' '.join(words)}" for one, words in every if not is_elman(words) and not elsewhere(words)]


def test_every_command_of_elman_that_is_shown_has_names_and_options_that_exist() -> None:
    found = []
    for one in [*SHOWN, *recipes()]:
        problems = {problem_of(words) for words, _ in simple_commands(one.text) if is_elman(words)} - {None}
        found += [f"{one}: {problem}" for problem in problems]
    for one in everything(mentioned_in):  # a name in a sentence may stand without its arguments
        words = one.text.split()
        problem = problem_of(words) if is_elman(words) else None
        if problem is not None and not problem.startswith("MissingParameter"):
            found.append(f"{one}: {problem}")
    assert found == []
    assert len(SHOWN) > 50


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("elman clasify lstm text", "no command clasify"),
        ("elman", "no command"),
        ("elman study rest", "no command rest"),
        ("elman score lstm --tokns", "NoSuchOption"),
        ("elman search classifier gru --trials many", "BadParameter"),
        ("elman export lstm exported", "MissingParameter"),
    ],
)
def test_a_command_that_was_removed_or_an_unknown_option_is_found(text: str, problem: str) -> None:
    (words, _), *_ = simple_commands(text)
    assert problem in (problem_of(words) or "")


def test_every_other_command_is_run_by_a_test_that_is_named() -> None:
    assert unplaced(SHOWN) == []
    page = "Then\n\n    elman check && dvc frobnicate\n\n```sh\n$ tail -f log | wc\n```\n"
    assert unplaced(commands_in("page.md", page)) == [
        "page.md:3: elman check && dvc frobnicate: dvc frobnicate",
        "page.md:6: tail -f log | wc: tail -f log",
        "page.md:6: tail -f log | wc: wc",
    ]


def test_the_table_has_no_command_that_is_gone_and_names_tests_that_exist() -> None:
    used = {pattern for one in SHOWN for words, _ in simple_commands(one.text) for pattern in elsewhere(words)}
    assert set(ELSEWHERE) - used == set()
    for pattern, where in {**ELSEWHERE, **PYTHON_ELSEWHERE}.items():
        if where.startswith("tests/"):
            assert names_of_tests(ROOT / where), f"{pattern}: {where} has no tests"
            if pattern.startswith("elman "):
                name = re.findall(r"\w+", pattern)[1]
                assert f'"{name}"' in (ROOT / where).read_text(encoding="utf-8"), f"{where} does not run elman {name}"
    texts = [one.text for one in everything(python_in)]
    assert [words for words in PYTHON_ELSEWHERE if not any(words in text for text in texts)] == []


def test_every_target_of_make_that_is_shown_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(VENV)", ".venv")
    targets = set(re.findall(r"^([\w./]+):", makefile, flags=re.MULTILINE))
    calls = [(one, words) for one in SHOWN for words, _ in simple_commands(one.text) if words[0] == "make"]
    calls += [(one, one.text.split()) for one in everything(mentioned_in) if one.text.startswith("make ")]
    assert len(calls) > 10
    for one, words in calls:
        for word in words[1:]:
            name, _, value = word.partition("=")
            assert name in targets or (value and f"$({name})" in makefile), f"{one}: no target or variable {name}"


def module_of(words: list[str]) -> tuple[str, list[str]]:
    """The module and the arguments of `python -m a.b ...` or `python a/b.py ...`."""
    if words[1] == "-m":
        return words[2], words[3:]
    return words[1].removesuffix(".py").replace("/", "."), words[2:]


def scripts() -> list[Any]:
    sentences = [
        Shown(path.relative_to(ROOT).as_posix(), number, text)
        for path in sorted((ROOT / "docs").rglob("*.md"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for text in re.findall(r"`(python (?:-m )?[a-z][^`]*)`", line)
    ]
    found = {}
    for one in [*SHOWN, *sentences]:
        for words, _ in simple_commands(one.text):
            if words[0] == "python":
                found.setdefault(tuple(words), one)
    return [pytest.param(list(words), id=" ".join(words[1:3])) for words in found]


@pytest.mark.parametrize("words", scripts())
def test_a_script_is_there_and_takes_the_arguments_that_are_shown(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Parsed(Exception):  # noqa: N818 (no error: the arguments were right)
        """Nothing is done with the arguments."""

    parse = ArgumentParser.parse_args

    def parse_only(parser: ArgumentParser, *arguments: Any) -> None:
        parse(parser, *arguments)
        raise Parsed

    name, rest = module_of(words)
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        name = f"{name}.__main__"
        spec = importlib.util.find_spec(name)
    assert spec is not None, f"no module {name}"
    assert spec.origin is not None
    source = Path(spec.origin).read_text(encoding="utf-8")
    if "ArgumentParser" not in source:
        assert rest == [], f"{name} takes no arguments"
        return
    if "\ndef main" not in source or re.search(r"^(import|from) torch", source, flags=re.MULTILINE):
        options = {word for word in rest if word.startswith("-")}
        assert all(f'"{option}"' in source for option in options)  # its imports are not all here
        return
    monkeypatch.setattr(ArgumentParser, "parse_args", parse_only)
    monkeypatch.setattr(sys, "argv", [name, *rest])
    with pytest.raises(Parsed):
        importlib.import_module(name).main()


def test_every_command_of_dvc_has_options_that_exist() -> None:
    calls = [words for one in SHOWN for words, _ in simple_commands(one.text) if words[0] == "dvc"]
    assert len(calls) > 8
    for words in calls:
        dvc_arguments(words[1:])  # raises DvcParserError


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with params, data, reports and small models of both tasks, as the pages take them to be there."""
    root = tmp_path_factory.mktemp("project")
    write_reviews(root / "reviews.csv")
    yaml = YAML()
    params = yaml.load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["dataset"].update(SMALL["dataset"])
    with (root / "params.yaml").open("w", encoding="utf-8") as stream:
        yaml.dump(params, stream)
    for task in ("classifier", "language_model"):
        write_served(root, task=task, cell="lstm")
    write_served(root, cell="gru", losses={2: 0.5})
    reports = write_reports(root)
    tfidf = reports / "classifier" / "baselines" / "tfidf"
    tfidf.mkdir(parents=True)
    shutil.copy(reports / "classifier" / "cells" / "lstm" / "scores.parquet", tfidf)
    for task in ("classifier", "language_model"):
        compared = build_comparison(reports=reports, task=task, cells=["lstm", "gru"], dataset="reviews", commit="ab12")
        write_json(reports / task / "comparison.json", compared)
    (root / "new.txt").write_text("\n".join(random_texts(9)), encoding="utf-8")
    shutil.copy(root / "models" / "tokenizer" / "tokenizer.model", root / "x.model")
    write_state_dicts(root)
    write_package(root / "models/language_model/lstm", root / "lm-package", params={}, metrics={}, provenance={})
    return root


def write_state_dicts(root: Path) -> None:
    """A language model and a classifier of three classes as PyTorch would keep them: 4 features, 5 units."""
    from elman.data.tokenizer import Tokenizer

    size = Tokenizer.load(root / "models" / "tokenizer").vocab_size
    random = np.random.default_rng(3)
    for name, outputs in (("w", size), ("weights", 3)):
        shapes = {"emb.weight": (size, 4), "out.weight": (outputs, 5), "out.bias": (outputs,)}
        shapes |= {"rnn.weight_ih_l0": (20, 4), "rnn.weight_hh_l0": (20, 5), "rnn.bias_ih_l0": (20,),
                   "rnn.bias_hh_l0": (20,)}  # fmt: skip
        arrays = {key: random.normal(size=shape).astype(np.float32) for key, shape in shapes.items()}
        save_file(arrays, root / f"{name}.safetensors")


def to_run(one: Shown) -> list[tuple[list[str], str | None]]:
    return [(words, fed) for words, fed in simple_commands(one.text) if is_elman(words) and not elsewhere(words)]


RUN_HERE = sorted({one.page for one in SHOWN if to_run(one)})


@pytest.mark.parametrize("page", RUN_HERE)
def test_the_commands_of_a_page_run(page: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    for made in ("exported", "mine", "imported", "gru-package"):
        shutil.rmtree(made, ignore_errors=True)
    python = [one for one in everything(python_in) if one.page == page and not python_elsewhere(one.text)]
    for one in sorted([*python, *(one for one in SHOWN if one.page == page)], key=lambda one: one.line):
        if one in python:
            exec(compile(one.text, f"{page}:{one.line}", "exec"), {})
            continue
        for words, fed in to_run(one):
            given = Path(fed).read_text(encoding="utf-8") if fed else None
            done = CliRunner().invoke(app, words[1:], input=given)
            assert done.exit_code == 0, f"{one}\n{done.output}\n{done.exception!r}"
            assert done.output.strip(), one


@pytest.mark.slow
def test_a_registered_package_is_there_by_its_address(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    shutil.rmtree("gru-package", ignore_errors=True)
    page = "docs/packages.md"
    names: dict[str, Any] = {}
    for one in (one for one in everything(python_in) if one.page == page):
        exec(compile(one.text, f"{page}:{one.line}", "exec"), names)
    for seed in (2, 3):  # the page names the third version
        package = write_package(Path("models/classifier/gru"), Path(f"p{seed}"), params={}, metrics={}, provenance={})
        names["registry"].add(package.folder, run_id=None, tags={})
    shown = [one for one in SHOWN if one.page == page and "models:/" in one.text and one.text.startswith("elman")]
    assert len(shown) == 2
    for one in shown:
        done = CliRunner().invoke(app, ["classify", *simple_commands(one.text)[0][0][2:]])
        assert done.exit_code == 0, done.output
        assert len(done.stdout.splitlines()) == 2


def python_elsewhere(text: str) -> list[str]:
    return [where for words, where in PYTHON_ELSEWHERE.items() if words in text]


def test_every_python_example_is_whole_and_is_run_by_a_test() -> None:
    examples = everything(python_in)
    assert len(examples) > 15
    for one in examples:
        ast.parse(one.text)
        here = one.page in RUN_HERE or one.page.startswith("docs/concepts/")
        assert here or python_elsewhere(one.text), f"{one.page}:{one.line}: no test runs this"
