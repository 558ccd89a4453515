"""`elman export`: a folder, whole or not at all, that gives what the model gives, to programs without elman too."""

import importlib.util
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter
from typer.testing import CliRunner

import elman
from elman.artifacts import read_json, sha256_file
from elman.cli import app
from elman.errors import ArtifactError, ConversionError
from elman.exporting import onnx_file
from elman.exporting.export import export_model
from elman.exporting.formats import WAYS, Format, check_installed
from elman.exporting.source import plain_copy
from elman.packages.writing import write_package
from elman.using.locate import locate
from tests.helpers.exported_models import random_model
from tests.helpers.served_models import LABELS, MAX_LENGTH, random_texts, write_served
from tests.helpers.stage_deps import ROOT

NAMES = {"classify": "classifier/lstm", "score": "language_model/gru"}
TEXTS = [*random_texts(5), "", "the old key " * 9, " \u3000THE Keys\x00 \n"]
EXAMPLE = "the key near the river"
PAGE = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")

Exported = Callable[[str, Format], Path]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("served")
    write_served(root, cell="lstm")
    write_served(root, task="language_model", cell="gru")
    return root


@pytest.fixture(scope="module")
def exported(root: Path) -> Exported:
    """The folder of a model in a format; written once."""

    def export(name: str, form: Format) -> Path:
        out = root / f"{form}-{name.replace('/', '-')}" / "exported"
        if not out.exists():
            export_model(locate(name, models=root / "models"), out, form=form)
        return out

    return export


def test_an_exported_folder_holds_all_that_the_model_needs(exported: Exported) -> None:
    out = exported("classifier/lstm", "onnx")
    about = read_json(out / "export.json")
    assert (about["labels"], about["max_length"]) == (list(LABELS), MAX_LENGTH)
    assert about["cleaning"] == {"unicode_form": "NFC", "lowercase": True, "whitespace": "collapse"}
    assert about["ids"] == {"pad": 0, "unk": 1, "bos": 2, "eos": 3}
    assert about["inputs"] == {"token_ids": {"type": "int32", "axes": ["B", "T"]}}
    assert about["outputs"]["probabilities"] == {"type": "float32", "axes": ["B", 3]}
    assert about["sha256"] == {name: sha256_file(out / name) for name in ("model.onnx", "tokenizer.model")}
    assert about["largest_difference_from_keras"] < 1e-5
    assert {"elman", "keras", "onnx", "onnxruntime"} <= set(about["packages"])
    assert sorted(path.name for path in out.iterdir()) == ["export.json", "model.onnx", "tokenizer.model"]


def test_a_package_is_exported_as_the_model_in_it(root: Path, exported: Exported, tmp_path: Path) -> None:
    cell = root / "models" / NAMES["classify"]
    package = write_package(cell, tmp_path / "package", params={}, metrics={}, provenance={"code": "c"})
    about = export_model(package, tmp_path / "out", form="onnx")
    assert about == read_json(exported(NAMES["classify"], "onnx") / "export.json")


def test_a_saved_model_classifies_raw_text_as_elman_does(root: Path, exported: Exported) -> None:
    out = exported("classifier/lstm", "savedmodel")
    assert read_json(out / "export.json")["outputs"]["probabilities"] == {"type": "float32", "axes": ["B", 3]}
    answers = tf.saved_model.load(str(out / "model")).signatures["classify"](texts=tf.constant(TEXTS))
    expected = elman.load("classifier/lstm", models=root / "models").classify(TEXTS)
    assert [label.decode() for label in answers["label"].numpy()] == [one.label for one in expected]
    assert answers["num_tokens"].numpy().tolist() == [one.num_tokens for one in expected]
    assert max(one.num_tokens for one in expected) > MAX_LENGTH, "one is cut"
    probabilities = [list(one.probabilities.values()) for one in expected]
    np.testing.assert_allclose(answers["probabilities"], probabilities, rtol=0, atol=1e-5)


def test_a_saved_model_scores_raw_text_as_elman_does(root: Path, exported: Exported) -> None:
    out = exported("language_model/gru", "savedmodel")
    answers = tf.saved_model.load(str(out / "model")).signatures["score"](texts=tf.constant(TEXTS))
    expected = elman.load("language_model/gru", models=root / "models").score(TEXTS)
    assert answers["num_tokens"].numpy().tolist() == [one.num_tokens for one in expected]
    np.testing.assert_allclose(answers["nll_nats"], [one.nll_nats for one in expected], rtol=1e-5)
    for row, one in zip(answers["token_nll_nats"].numpy(), expected, strict=True):
        np.testing.assert_allclose(row[: one.num_tokens], one.token_nll_nats, rtol=0, atol=1e-4)
        assert not row[one.num_tokens :].any()


@pytest.mark.parametrize("name", NAMES.values())
def test_a_litert_file_takes_and_gives_what_its_description_says(exported: Exported, name: str) -> None:
    out = exported(name, "litert")  # compared with Keras there, to 1e-4
    about = read_json(out / "export.json")
    runner = Interpreter(model_path=str(out / "model.tflite")).get_signature_runner()
    assert sorted(runner.get_input_details()) == sorted(about["inputs"])
    assert sorted(runner.get_output_details()) == sorted(about["outputs"])


@pytest.mark.parametrize("form", WAYS)
@pytest.mark.parametrize("verb", NAMES)
def test_the_example_of_use_gives_what_elman_gives_where_elman_cannot_be_imported(
    root: Path, exported: Exported, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    form: Format, verb: str,
) -> None:  # fmt: skip
    title = {"onnx": "ONNX", "savedmodel": "SavedModel", "litert": "LiteRT"}[form]
    (code,) = re.findall(rf"^### {title}: {verb}\n(?:(?!###).*\n)*?```python\n((?:.*\n)+?)```", PAGE, re.MULTILINE)
    assert len([line for line in code.splitlines() if line]) <= 13
    loaded = elman.load(NAMES[verb], models=root / "models")
    (expected,) = loaded.classify([EXAMPLE]) if verb == "classify" else loaded.score([EXAMPLE])
    monkeypatch.chdir(exported(NAMES[verb], form).parent)
    for name in [name for name in sys.modules if name.split(".")[0] == "elman"]:
        monkeypatch.setitem(sys.modules, name, None)  # an import of it fails
    capsys.readouterr()
    exec(compile(code, title, "exec"), {})
    *label, figure = capsys.readouterr().out.split()
    if verb == "classify":
        assert label == [expected.label]
    known = expected.probability if verb == "classify" else expected.nll_nats
    assert float(figure) == pytest.approx(known, abs=1e-3)


@pytest.mark.parametrize("cell", ["simple_rnn", "lstm", "gru"])
def test_the_plain_copy_gives_the_same_without_compiled_kernels(cell: str) -> None:
    model = random_model(cell=cell, bidirectional=True, num_layers=2)
    copy = plain_copy(model)
    halves = [half for layer in copy.encoder.recurrent_layers for half in (layer.forward_layer, layer.backward_layer)]
    assert {half.kernel_plan().name for half in halves} == {"generic loop"}
    ids = np.array([[5, 9, 2, 8], [7, 3, 0, 0]], np.int32)
    np.testing.assert_allclose(copy(ids, padding_mask=ids > 0), model(ids, padding_mask=ids > 0), rtol=0, atol=1e-5)


def test_a_model_of_mixed_precision_is_exported_in_float32_and_leaves_the_precision_as_it_was() -> None:
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        model = random_model(cell="gru")
        copy = plain_copy(model)
        assert keras.mixed_precision.global_policy().name == "mixed_bfloat16"
    finally:
        keras.mixed_precision.set_global_policy("float32")
    assert (model.encoder.compute_dtype, copy.encoder.compute_dtype) == ("bfloat16", "float32")
    for ours, theirs in zip(copy.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_file_that_gives_other_outputs_is_not_kept(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_file, "_difference", lambda *_: float("nan"))
    with pytest.raises(ConversionError, match="onnx: outputs differ by up to nan from Keras"):
        export_model(locate("classifier/lstm", models=root / "models"), tmp_path / "out", form="onnx")
    assert not list(tmp_path.iterdir())


def test_what_is_there_already_is_not_overwritten(root: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(ArtifactError, match="out: is there already"):
        export_model(locate("classifier/lstm", models=root / "models"), tmp_path / "out", form="onnx")
    assert not list((tmp_path / "out").iterdir())


def test_a_missing_package_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for form, way in WAYS.items():
        with pytest.raises(ConversionError, match=rf"{form} needs {way.needs[0][1]}.*pip install 'elman\[export\]'"):
            check_installed(form)
    with pytest.raises(ConversionError, match="--format: one of onnx, savedmodel, litert is needed, but came 'h5'"):
        check_installed("h5")


def test_the_command_says_what_goes_in_and_comes_out(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    done = CliRunner().invoke(app, ["export", "classifier/lstm", str(tmp_path / "a"), "--format", "onnx"])
    assert done.exit_code == 0, done.output
    head, *ports, last = done.stdout.splitlines()
    assert head == f"{tmp_path / 'a'}: classifier lstm of seed 1, onnx"
    assert ports[0].strip() == "input  token_ids: int32 (B, T)"
    assert last.startswith("  largest difference from Keras on sample rows: ")
    arguments = ["export", "classifier/lstm", str(tmp_path / "b"), "--format", "onnx", "--json"]
    assert json.loads(CliRunner().invoke(app, arguments).stdout) == read_json(tmp_path / "b" / "export.json")
