"""`elman generate`: the text as it comes, several side by side, prompts from wherever, the bad ones named."""

import io
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import elman
from elman import cli_generate
from elman.cli import app
from elman.errors import ArtifactError, ConfigError, DataError
from elman.using.display import printable
from elman.using.text_language_model import TextLanguageModel
from tests.helpers.served_models import write_served


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("served")
    write_served(root, task="language_model", cell="gru")
    write_served(root, cell="lstm")
    return root


@pytest.fixture(scope="module")
def model(root: Path) -> TextLanguageModel:
    return elman.load("gru", models=root / "models")


@pytest.fixture(autouse=True)
def _there(root: Path, model: TextLanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder with the models, one of which is loaded already."""
    load = cli_generate.load_named
    monkeypatch.chdir(root)
    monkeypatch.setattr(
        cli_generate, "load_named", lambda name, *given, **how: model if name == "gru" else load(name, *given, **how)
    )


def run(*arguments: str, given: str | bytes | None = None, code: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(app, ["generate", *map(str, arguments)], input=given, catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout, done.stderr


def test_a_text_is_printed_and_nothing_else(model: TextLanguageModel) -> None:
    (expected,) = model.generate("The key", max_tokens=9, seed=5)
    printed, errors = run("language_model/gru", "The key", "--max-tokens", "9", "--seed", "5")
    assert printed == f"{expected.text}\n"
    assert errors == "model: models/language_model/gru/seed-1\n"


def test_a_token_is_printed_before_the_next_one_is_drawn(
    model: TextLanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, printed = [], []

    def chunks():
        for chunk in model.generator.chunks(model.generator.prompt("the"), **options):
            drawn.append(chunk.token_id)
            yield chunk

    from elman.using.generating.sampling import make_sampling

    options = {"sampling": make_sampling(sampler="random"), "samples": 1, "max_tokens": 5, "seed": 2}
    monkeypatch.setattr(cli_generate.typer, "echo", lambda *text, nl=True: printed.append((len(drawn), *text)))
    cli_generate._show(chunks(), "the", row=None)
    assert [seen for seen, *_ in printed[1:6]] == [1, 2, 3, 4, 5]
    assert (
        "".join(text for _, *texts in printed for text in texts)
        == model.generate("the", sampler="random", max_tokens=5, seed=2)[0].text
    )


def test_several_texts_of_several_prompts_each_have_a_heading(model: TextLanguageModel, tmp_path: Path) -> None:
    path = tmp_path / "prompts.txt"
    path.write_text("the key\na door\n")
    printed, _ = run("gru", "--file", path, "-n", "2", "--max-tokens", "6", "--sampler", "top_k", "--top-k", "5")
    lines = []
    for row, prompt in enumerate(["the key", "a door"], start=1):
        found = model.generate(prompt, samples=2, max_tokens=6, sampler="top_k", top_k=5)
        for sample, one in enumerate(found, start=1):
            lines += [f"== row {row}, sample {sample}", one.text]
    assert printed.splitlines() == lines


def test_json_lines_are_what_python_gives(model: TextLanguageModel) -> None:
    found = model.generate("the", samples=3, max_tokens=6, sampler="beam", beams=4)
    printed, _ = run("gru", "the", "-n", "3", "--max-tokens", "6", "--sampler", "beam", "--beams", "4", "--json")
    assert [json.loads(line) for line in printed.splitlines()] == [
        {"row": 1, "sample": number, **one.to_json()} for number, one in enumerate(found, start=1)
    ]


def test_without_a_prompt_a_text_begins_at_its_beginning(
    model: TextLanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    (expected,) = model.generate(max_tokens=5)
    assert run("gru", "--max-tokens", "5", given="")[0] == f"{expected.text}\n"
    assert run("gru", "", "--max-tokens", "5")[0] == f"{expected.text}\n"

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    (row,) = cli_generate._prompts(None, None, column="text", encoding="utf-8")
    assert row.text == ""


def test_a_bad_prompt_is_named_and_the_others_are_gone_on_with() -> None:
    printed, errors = run("gru", "--json", "--max-tokens", "3", given=b"the\nth\xe9\na\n", code=3)
    rows = [json.loads(line) for line in printed.splitlines()]
    assert [row["row"] for row in rows] == [1, 2, 3]
    assert rows[1]["error"] == "prompt: character 3 is the byte 0xe9, which is not of the file's encoding"
    assert f"standard input, row 2: {rows[1]['error']}" in errors


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["models/classifier/lstm", "the"], ArtifactError, "not a language model: `elman classify`"),
        (["gru", "the", "--sampler", "best"], ConfigError, "sampler: one of greedy"),
        (["gru", "the", "--temperature", "0"], ConfigError, "temperature: "),
        (["gru", "the", "--max-tokens", "0"], ConfigError, "max_tokens: 1 or more"),
        (["gru", "the", "--file", "x.txt"], DataError, "not both"),
    ],
)
def test_wrong_use_is_said(arguments: list[str], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run(*arguments)


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    assert printable("a\x1b[31m b\x9b1m\r\n\tc\x07") == "a[31m b1m\n\tc"
