"""A PyTorch state dict becomes a model with equal outputs."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.pytorch_reference import CASES, Case, recorded
from safetensors.numpy import save_file
from sentencepiece import SentencePieceTrainer
from typer.testing import CliRunner

import elman
from elman.cli import app
from elman.data.tokenizer import MODEL_FILE, Tokenizer, train_sentencepiece
from elman.errors import ConversionError, TokenizerError
from elman.importing.torch_model import import_state_dict
from elman.importing.weights_file import Arrays
from tests.helpers import numpy_cells

CELLS = {"RNN": "simple_rnn", "LSTM": "lstm", "GRU": "gru"}
CLEANING = {"unicode_form": "none", "lowercase": False, "whitespace": "keep"}
LETTERS = "abcdefghijklmnopqrst"
LABELS = ("left", "middle", "right")


def write_tokenizer(path: Path, *, model: str = "char", size: int = 24) -> Path:
    """A piece a letter and one of white space: `size` with the four special ones."""
    path.write_bytes(train_sentencepiece([LETTERS[: size - 5]], model=model, vocab_size=size))
    assert Tokenizer(path.read_bytes(), model=model).vocab_size == size
    return path


def recurrent_arrays(case: Case) -> Arrays:
    start = "weights/"
    return {f"rnn.{name.removeprefix(start)}": a for name, a in recorded(case).items() if name.startswith(start)}


def run_import(arrays: Arrays, tmp_path: Path, **options: Any) -> Any:
    tokenizer = options.pop("tokenizer", None) or write_tokenizer(tmp_path / "x.model")
    import_state_dict(arrays, tmp_path / "out", tokenizer=tokenizer, cleaning=CLEANING, **options)
    return elman.load(tmp_path / "out")


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case.bidirectional and case.nonlinearity == "tanh"], ids=Case.label
)
def test_a_language_models_outputs_and_states_follow_from_pytorchs_own(case: Case, tmp_path: Path) -> None:
    # The embedding's rows are the recorded inputs, so that reading the ids 4, 5 and so on is what PyTorch did.
    reference, random = recorded(case), np.random.default_rng(4)
    inputs = reference["inputs"].reshape(-1, case.input_dim)  # (B T, D)
    assert len(inputs) == 20
    arrays = {
        **recurrent_arrays(case),
        "emb.weight": np.concatenate([random.normal(size=(4, case.input_dim)), inputs]).astype(np.float32),
        "out.weight": random.normal(size=(24, case.units)).astype(np.float32),
        "out.bias": random.normal(size=24).astype(np.float32),
    }
    model = run_import(arrays, tmp_path).model
    ids = np.arange(4, 24, dtype=np.int32).reshape(case.batch, case.steps)
    initial = [
        reference["initial"][kind, layer]
        for layer in range(case.num_layers)
        for kind in range(len(reference["initial"]))
    ]
    logits, state = model(ids, padding_mask=np.ones_like(ids, bool), initial_state=initial)
    expected = reference["outputs"] @ arrays["out.weight"].T + arrays["out.bias"]
    np.testing.assert_allclose(logits, expected, rtol=0, atol=1e-5)
    last = [
        reference["last"][kind, layer] for layer in range(case.num_layers) for kind in range(len(reference["last"]))
    ]
    for found, one in zip(state, last, strict=True):
        np.testing.assert_allclose(found, one, rtol=0, atol=1e-6)


def numpy_direction(case: Case, arrays: Arrays, layer: int, suffix: str, x: np.ndarray) -> np.ndarray:
    """Outputs (B, T, U) of one direction from zero states, by PyTorch's equations on PyTorch's arrays."""
    w, r, b, c = (arrays[f"rnn.{name}_l{layer}{suffix}"].astype(float)
                  for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))  # fmt: skip
    h = cell = np.zeros((len(x), case.units))
    outputs = []
    for step in range(x.shape[1]) if not suffix else reversed(range(x.shape[1])):
        left, right = x[:, step] @ w.T + b, h @ r.T + c
        if case.module == "RNN":
            h = np.tanh(left + right)
        elif case.module == "LSTM":
            i, f, g, o = np.split(left + right, 4, axis=-1)
            cell = numpy_cells.sigmoid(f) * cell + numpy_cells.sigmoid(i) * np.tanh(g)
            h = numpy_cells.sigmoid(o) * np.tanh(cell)
        else:
            (lr, lz, ln), (rr, rz, rn) = np.split(left, 3, axis=-1), np.split(right, 3, axis=-1)
            z = numpy_cells.sigmoid(lz + rz)
            h = (1 - z) * np.tanh(ln + numpy_cells.sigmoid(lr + rr) * rn) + z * h
        outputs.append(h)
    return np.stack(outputs if not suffix else outputs[::-1], axis=1)


@pytest.mark.parametrize("case", [case for case in CASES if case.bidirectional], ids=Case.label)
@pytest.mark.parametrize("pooling", ["last", "all"])
def test_a_classifiers_logits_are_those_of_pytorchs_equations(case: Case, pooling: str, tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    width = 2 * case.units * (3 if pooling == "all" else 1)
    arrays = {
        **recurrent_arrays(case),
        "embedding.weight": random.normal(size=(24, case.input_dim)).astype(np.float32),
        "head.weight": random.normal(size=(3, width)).astype(np.float32),
        "head.bias": random.normal(size=3).astype(np.float32),
    }
    loaded = run_import(arrays, tmp_path, labels=LABELS, pooling=pooling)
    assert loaded.labels == LABELS
    ids = np.array([[5, 9, 23, 4, 17]], np.int32)
    x = arrays["embedding.weight"][ids].astype(float)
    for layer in range(case.num_layers):
        ways = [numpy_direction(case, arrays, layer, suffix, x) for suffix in ("", "_reverse")]
        x = np.concatenate(ways, axis=-1)  # (1, T, 2U)
    parts = [np.concatenate([ways[0][:, -1], ways[1][:, 0]], axis=-1)]
    parts += [x.mean(axis=1), x.max(axis=1)] if pooling == "all" else []
    expected = np.concatenate(parts, axis=-1) @ arrays["head.weight"].T + arrays["head.bias"]
    padded = np.pad(ids, ((0, 0), (0, 3)))
    for rows in (ids, padded):
        np.testing.assert_allclose(loaded.model(rows, padding_mask=rows > 0), expected, rtol=0, atol=1e-5)


def small(**changes: Any) -> Arrays:
    """A GRU language model or classifier of three units."""
    shapes = {
        "emb.weight": (24, 3), "rnn.weight_ih_l0": (9, 3), "rnn.weight_hh_l0": (9, 3),
        "rnn.bias_ih_l0": (9,), "rnn.bias_hh_l0": (9,), "out.weight": (3, 3), "out.bias": (3,),
        **changes,
    }  # fmt: skip
    random = np.random.default_rng(8)
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items() if shape is not None}


def test_a_tied_language_model_stays_tied(tmp_path: Path) -> None:
    arrays = small(**{"out.weight": None, "out.bias": (24,)})
    model = run_import(arrays, tmp_path).model
    assert model.spec.tie_embeddings
    np.testing.assert_array_equal(model.output_bias, arrays["out.bias"])


def test_equal_embedding_and_output_are_tied(tmp_path: Path) -> None:
    arrays = small(**{"out.bias": (24,)})
    arrays["out.weight"] = arrays["first.weight"] = arrays.pop("emb.weight")
    assert run_import(arrays, tmp_path).model.spec.tie_embeddings


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {"labels": ("a", "b")}, r"out.weight \(3, 3\): 3 classes, but 2 labels came"),
        ({"out.weight": (3, 9)}, {"labels": LABELS}, r"out.weight \(3, 9\): reads 9 values.*gives 3; --pooling all"),
        (
            {"out.weight": (3, 5)},
            {"labels": LABELS},
            r"out.weight \(3, 5\): reads 5 values, but pooling last.*gives 3$",
        ),
        ({"out.weight": None}, {"labels": LABELS}, r"a classifier needs a linear layer"),
        ({}, {}, r"out.weight \(3, 3\): a language model needs \(24, 3\).*--labels a,b,c"),
        ({"out.weight": (24, 3)}, {}, r"bias \(3,\) must have shape \(24,\)"),
        ({}, {"labels": LABELS, "pooling": "first"}, r"--pooling: one of last, mean, max, all is needed.*'first'"),
        ({}, {"labels": LABELS, "max_length": 1}, r"--max-length: Input should be greater than or equal to 2"),
        ({"rnn.weight_hr_l0": (2, 3)}, {"labels": LABELS}, r"weight_hr: an LSTM with a projection"),
        ({"rnn.bias_hh_l0": None}, {"labels": LABELS}, r"lacks \['bias_hh_l0'\]"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_left(
    tmp_path: Path, changes: dict, options: dict, message: str
) -> None:
    with pytest.raises(ConversionError, match=message):
        run_import(small(**changes), tmp_path, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["x.model"]


def test_a_tokenizer_with_other_special_ids_is_refused_with_what_to_do(tmp_path: Path) -> None:
    written = BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter([LETTERS]), model_writer=written, model_type="char", vocab_size=24, minloglevel=3
    )
    (tmp_path / "x.model").write_bytes(written.getvalue())
    with pytest.raises(TokenizerError, match=r"this model has pad -1, unk 0, bos 1, eos 2.*--pad_id=0 --unk_id=1"):
        run_import(small(), tmp_path, tokenizer=tmp_path / "x.model", labels=LABELS)


def test_a_word_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.model").write_bytes(train_sentencepiece(["a few words"], model="word", vocab_size=20))
    with pytest.raises(TokenizerError, match="a word model: SentencePiece makes one unk"):
        run_import(small(), tmp_path, tokenizer=tmp_path / "x.model", labels=LABELS)


def test_the_command_makes_a_folder_that_classifies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_file(small(), tmp_path / "weights.safetensors")
    write_tokenizer(tmp_path / "x.model")
    arguments = [
        "import-torch",
        "weights.safetensors",
        "out",
        "--tokenizer",
        "x.model",
        "--labels",
        "left, middle,right ",
    ]
    done = CliRunner().invoke(app, [*arguments, "--lowercase"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert done.stdout == "out: gru classifier, layers: 1, units: 3, pieces: 24; elman.load('out')\n"
    answers = elman.load("out").classify(["bad cab", "BAD CAB"])
    assert answers[0] == answers[1]
    assert set(answers[0].probabilities) == set(LABELS)
    assert (tmp_path / "out" / "tokenizer" / MODEL_FILE).read_bytes() == (tmp_path / "x.model").read_bytes()
    with pytest.raises(ConversionError, match="--labels: two or more different names are needed"):
        CliRunner().invoke(app, [*arguments[:-1], "left,left"], catch_exceptions=False)
