"""`elman classify`, `elman score` and `elman embed`: rows in, the same rows out, the bad ones named."""

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import elman
from elman import cli_texts
from elman.cli import app
from elman.cli_texts import progress
from elman.errors import ArtifactError, DataError
from elman.using import texts as texts_module
from elman.using.answers import score_together
from tests.helpers.served_models import LABELS, random_texts, write_served

TEXTS = random_texts(9)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("served")
    write_served(root, losses={3: 0.4, 4: 0.2}, cell="gru")
    write_served(root, task="language_model", cell="gru")
    return root


@pytest.fixture(autouse=True)
def _there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)


def run(*arguments: str, given: str | bytes | None = None, code: int = 0) -> tuple[str, str]:
    """Standard output and standard error of a command."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], input=given, catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout, done.stderr


def objects(printed: str) -> list[dict]:
    return [json.loads(line) for line in printed.splitlines()]


def test_texts_as_arguments_get_a_table_a_row_each() -> None:
    printed, errors = run("classify", "gru", *TEXTS[:2], "", "the key " * 9)
    head, *rows = printed.splitlines()
    assert head.split() == ["row", "class", "probability", "tokens", "text"]
    expected = elman.load("gru", task="classifier").classify([*TEXTS[:2], "", "the key " * 9])
    assert [row.split()[:3] for row in rows] == [
        [str(number), one.label, f"{one.probability:.4f}"] for number, one in enumerate(expected, start=1)
    ]
    assert rows[3].split(maxsplit=3)[3] == f"20 of {expected[3].num_tokens}  {'the key ' * 6}th..."
    assert errors == "model: models/classifier/gru/seed-4, the best of 2 seeds on validation\n"


def test_json_lines_are_what_python_gives() -> None:
    model = elman.load("gru", task="classifier")
    printed, _ = run("classify", "gru", *TEXTS, "--json")
    assert objects(printed) == [
        {"row": number, **one.to_json()} for number, one in enumerate(model.classify(TEXTS), start=1)
    ]
    assert list(objects(printed)[0]["probabilities"]) == list(LABELS)


def test_standard_input_is_a_text_a_line_and_the_order_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts_module, "_POOL_TEXTS", 4)
    from_input, _ = run("classify", "gru", "--json", given="\n".join(TEXTS) + "\n\r\n")
    from_arguments, _ = run("classify", "gru", "--json", *TEXTS, "")
    for one, other in zip(objects(from_input), objects(from_arguments), strict=True):
        assert (one["row"], one["label"]) == (other["row"], other["label"])
        assert one["probabilities"] == pytest.approx(other["probabilities"], abs=1e-6)


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "txt", "txt.gz", "notes"])
def test_a_file_is_read_by_its_suffix(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"texts.{suffix}"
    if suffix == "jsonl":
        path.write_text("\n\n".join(json.dumps({"review": text, "stars": 5}) for text in TEXTS) + "\n")
    elif suffix == "csv":
        path.write_text("id,review\n" + "".join(f'7,"{text}"\n' for text in TEXTS))
    elif suffix.endswith("gz"):
        path.write_bytes(gzip.compress("\n".join(TEXTS).encode()))
    else:
        path.write_text("\n".join(TEXTS))
    found = objects(run("classify", "gru", "--file", path, "--column", "review", "--json")[0])
    expected = elman.load("gru", task="classifier").classify(TEXTS)
    assert [one["label"] for one in found] == [one.label for one in expected]
    assert [one["row"] for one in found] == list(range(1, 18, 2) if suffix == "jsonl" else range(1, 10))


def test_bad_rows_are_named_the_rest_is_answered_and_the_exit_code_is_3(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(
        b'{"text": "the key"}\n{"text": 5}\n{"text"\n{"txt": "old"}\n{"text": "o\xffld"}\n{"text": "old"}\n'
    )
    printed, errors = run("classify", "gru", "--file", path, "--json", code=3)
    found = objects(printed)
    assert [one["row"] for one in found] == [1, 2, 3, 4, 5, 6]
    assert ["label" in one for one in found] == [True, False, False, False, False, True]
    assert found[4]["error"] == "character 2 is the byte 0xff, which is not of the file's encoding"
    _, *lines, last = errors.splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        [f"{path}, row 2", "text not string"],
        [f"{path}, row 3", "invalid json"],
        [f"{path}, row 4", "missing text"],
        [f"{path}, row 5", found[4]["error"]],
    ]
    assert last == "4 of 6 rows could not be used"
    assert run("classify", "gru", given=b"the key\nth\xe9 key\n", code=3)[0].count("\n") == 2  # header and row 1


def test_text_in_another_encoding_is_read_with_the_one_that_is_named(tmp_path: Path) -> None:
    text = "the key of Zo\xeb"
    expected = elman.load("gru", task="classifier").classify([text])[0].to_json()
    for encoding in ("latin-1", "utf-16"):
        given = (text + "\n").encode(encoding)
        (tmp_path / "text.txt").write_bytes(given)
        for printed, _ in (
            run("classify", "gru", "--json", "--encoding", encoding, given=given),
            run("classify", "gru", "--json", "--encoding", encoding, "--file", tmp_path / "text.txt"),
        ):
            assert objects(printed) == [{"row": 1, **expected}]
    with pytest.raises(DataError, match=r"^--encoding: 'latin-l' is not a text encoding of Python; set --encoding to"):
        run("classify", "gru", "--encoding", "latin-l", given="text")
    path = tmp_path / "text.txt"
    path.write_bytes(b"abc")
    for name, file, given in (("standard input", [], b"abc"), (str(path), ["--file", path], None)):
        with pytest.raises(DataError, match=f"^{name}: not utf-16: .*BOM; set --encoding"):
            run("classify", "gru", "--encoding", "utf-16", *file, given=given)


def test_score_shows_rows_tokens_and_all_together() -> None:
    model = elman.load("gru", task="language_model")
    one, two = model.score(TEXTS[:2])
    printed, errors = run("score", "gru", *TEXTS[:2], "--tokens")
    head, *rows, last = printed.splitlines()
    assert head.split() == ["row", "perplexity", "bits/byte", "nats", "tokens", "text"]
    assert len(rows) == 2 + one.num_tokens + two.num_tokens
    assert rows[0].split()[:5] == [
        "1", f"{one.perplexity:,.1f}", f"{one.bits_per_byte:.3f}", f"{one.nll_nats:.3f}", str(one.num_tokens)
    ]  # fmt: skip
    assert rows[one.num_tokens].split() == [f"{one.token_nll_nats[-1]:.4f}", "</s>"]
    together = score_together([one, two])
    assert last.startswith(f"together: perplexity {together['perplexity']:,.1f} a token")
    assert f"2 texts, {one.num_tokens + two.num_tokens} tokens" in last
    assert errors == "model: models/language_model/gru/seed-1\n"


def test_score_as_json_lines_and_as_one_object() -> None:
    scores = elman.load("gru", task="language_model").score(TEXTS)
    rows = objects(run("score", "gru", "--json", "--tokens", *TEXTS)[0])
    assert rows == [{"row": number, **one.to_json(tokens=True)} for number, one in enumerate(scores, start=1)]
    assert "tokens" not in objects(run("score", "gru", "--json", *TEXTS)[0])[0]
    (total,) = objects(run("score", "gru", "--json", "--total", given="\n".join(TEXTS))[0])
    assert total.pop("version") == 1
    assert total == pytest.approx(score_together(scores), rel=1e-6)
    stream = objects(run("score", "gru", "--json", "--total", "--state", "stream", *TEXTS)[0])[0]
    assert stream["num_tokens"] == total["num_tokens"]
    assert abs(stream["perplexity"] - total["perplexity"]) > 1e-3


def test_score_says_where_there_is_nothing_to_add_up() -> None:
    for arguments in (("--total",), ("--total", "--json")):
        with pytest.raises(DataError, match="--total: no text came"):
            run("score", "gru", *arguments, given="")
        printed, errors = run("score", "gru", *arguments, given=b"th\xe9\n", code=3)
        assert printed == ""
        assert errors.endswith("1 of 1 rows could not be used\n")
    assert run("score", "gru", "--json", given="")[0] == ""


def test_embed_prints_a_vector_a_row_and_names_the_bad_ones() -> None:
    model = elman.load("gru", task="classifier")
    printed, errors = run("embed", "gru", "--task", "classifier", given=b"the key\nth\xe9 key\nold", code=3)
    first, bad, last = objects(printed)
    np.testing.assert_allclose([first["embedding"], last["embedding"]], model.embed(["the key", "old"]), atol=1e-6)
    assert (bad["row"], last["row"]) == (2, 3)
    assert "row 2: character 3 is the byte 0xe9" in errors


def test_embed_writes_all_vectors_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "out" / "vectors.npy"
    arguments = ("embed", "gru", "--task", "language_model", "--out", path, "--json")
    (facts,) = objects(run(*arguments, given=b"the key\nth\xe9 key\nold", code=3)[0])
    assert facts == {"version": 1, "file": str(path), "rows": 3, "numbers": 5, "refused": 1}
    vectors = np.load(path, allow_pickle=False)
    expected = elman.load("gru", task="language_model").embed(["the key", "old"])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors[[0, 2]], expected, atol=1e-6)
    assert np.isnan(vectors[1]).all()
    with pytest.raises(DataError, match=r"--out: a name that ends in \.npy"):
        run("embed", "gru", "text", "--out", "vectors.csv")
    with pytest.raises(DataError, match=r"--task: classifier or language_model, but came 'both'"):
        run("embed", "gru", "text", "--task", "both")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["classify", "gru", "text", "--file", "x.txt"], DataError, "not both"),
        (["classify", "gru", "--file", "x.txt"], DataError, r"x\.txt: no such file"),
        (["classify", "gru", "--file", "x" * 300], DataError, "no such file"),
        (["classify", "gru", "--file", "models"], DataError, "models: a folder; name a file"),
        (["classify", "gru", "--file", "wrong.json"], DataError, r"no text a line; .* end in \.jsonl"),
        (["classify", "gru", "--file", "wide.csv"], DataError, "starts as utf-16 does: set --encoding to utf-16"),
        (["classify", "gru", "--file", "wrong.jsonl"], DataError, "no column 'text'.*Name it with --column"),
        (["score", "gru", "text", "--state", "streem"], DataError, "document or stream, but came 'streem'"),
        (["score", "models/classifier/gru", "text"], ArtifactError, "`elman classify`"),
        (["classify", "lstm", "text"], ArtifactError, "no such model.*holds classifier/gru"),
    ],
)
def test_wrong_use_is_said_before_anything_is_read(
    root: Path, arguments: list[str], error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_texts, "load_all", lambda _: pytest.fail("the model was loaded"))
    (root / "wrong.jsonl").write_text('{"review": "the key"}\n')
    (root / "wrong.json").write_text('[{"text": "the key"}]\n')
    (root / "wide.csv").write_bytes("text,label\nthe key,left\n".encode("utf-16"))
    with pytest.raises(error, match=message):
        run(*arguments)


def test_the_command_itself_says_one_line_for_a_wrong_name_without_loading_tensorflow(root: Path) -> None:
    code = "import sys; from elman.cli import main\ntry: main()\nfinally: assert 'tensorflow' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", code, "classify", "grru", "text"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 32
    assert done.stderr.startswith("error: 'grru': no such model; did you mean gru?")
    assert done.stderr.count("\n") == 1


def test_a_bar_is_shown_where_errors_go_to_a_terminal_and_answers_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for out, shown in ((io.StringIO(), True), (Terminal(), False)):
        errors = Terminal()
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", errors)
        with progress(3) as advance:
            advance()
            advance()
        assert ("2/3" in errors.getvalue()) is shown
