"""Which arrays of a state dict are which part: found by shape and name, or refused with both."""

import numpy as np
import pytest

from elman.errors import ConversionError
from elman.importing.state_dict import Names, find_parts
from elman.importing.weights_file import Arrays

V, D, U, C = 11, 4, 3, 2
GATES = {"simple_rnn": 1, "gru": 3, "lstm": 4}


def state_dict(
    *, cell: str = "gru", layers: int = 1, back: bool = False, bias: bool = True, **changes: tuple
) -> Arrays:
    """Names as `nn.Module` gives them; `changes` are further shapes by name, None for one to leave out."""
    rows, width = GATES[cell] * U, D
    shapes: dict[str, tuple[int, ...] | None] = {"emb.weight": (V, D)}
    for layer in range(layers):
        for suffix in ("", "_reverse")[: 1 + back]:
            place = f"l{layer}{suffix}"
            shapes |= {f"rnn.weight_ih_{place}": (rows, width), f"rnn.weight_hh_{place}": (rows, U)}
            if bias:
                shapes |= {f"rnn.bias_ih_{place}": (rows,), f"rnn.bias_hh_{place}": (rows,)}
        width = U * (1 + back)
    shapes |= {
        "out.weight": (C, width),
        "out.bias": (C,),
        **{name.replace("_", ".", 1): s for name, s in changes.items()},
    }
    random = np.random.default_rng(1)
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items() if shape is not None}


def find(arrays: Arrays, **names: str):
    return find_parts(arrays, vocab_size=V, names=Names(**names))


@pytest.mark.parametrize("cell", GATES)
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_the_shapes_tell_the_cell_its_layers_and_directions(cell: str, layers: int, back: bool, bias: bool) -> None:
    arrays = state_dict(cell=cell, layers=layers, back=back, bias=bias)
    found = find(arrays)
    recurrent = found.recurrent
    assert (recurrent.cell, recurrent.input_dim, recurrent.units) == (cell, D, U)
    assert (recurrent.num_layers, recurrent.bidirectional) == (layers, back)
    assert len(recurrent.arrays) == 4 * layers * (1 + back)
    assert bias or not any(array.any() for name, array in recurrent.arrays.items() if "bias" in name)
    assert found.embedding is arrays["emb.weight"]
    assert found.weight is arrays["out.weight"]
    assert found.bias is arrays["out.bias"]


def test_of_two_matrices_of_one_shape_the_one_with_a_bias_is_no_embedding() -> None:
    # The names of PyTorch's example of a language model, where D = U.
    arrays = state_dict(emb_weight=None, encoder_weight=(V, D), out_weight=None, out_bias=None)
    arrays = {"decoder.weight": arrays["encoder.weight"] + 1, "decoder.bias": np.zeros(V, np.float32), **arrays}
    found = find(arrays)
    assert found.embedding is arrays["encoder.weight"]
    assert found.weight_name == "decoder.weight"


def test_names_decide_where_shapes_do_not() -> None:
    arrays = state_dict(out_weight=(V, D), out_bias=None)
    assert find(arrays).weight_name == "out.weight"
    renamed = {name.replace("emb.", "first."): array for name, array in arrays.items()}
    with pytest.raises(
        ConversionError, match=r"first.weight \(11, 4\), out.weight \(11, 4\): each could be the embedding"
    ):
        find(renamed)
    assert find(renamed, embedding="out.weight").weight_name == "first.weight"


def test_a_module_without_a_name_of_its_own_is_found() -> None:
    arrays = {name.removeprefix("rnn."): array for name, array in state_dict().items()}
    assert find(arrays).recurrent.cell == "gru"


def test_a_tied_output_is_none_and_its_bias_is_found() -> None:
    found = find(state_dict(out_weight=None, out_bias=(V,)))
    assert found.weight is None
    assert found.bias is not None
    assert found.bias.shape == (V,)


@pytest.mark.parametrize(
    ("changes", "names", "message"),
    [
        (
            {"emb_weight": (V + 1, D)},
            {},
            r"shape \(11, 4\): 11 pieces.*found emb.weight \(12, 4\).*The tokenizer must be",
        ),
        ({"emb_weight": (V, D + 1)}, {}, r"4 inputs of the recurrent module; found emb.weight \(11, 5\)"),
        ({}, {"embedding": "embed"}, r"--embedding embed: no such array; there are emb.weight \(11, 4\)"),
        ({}, {"linear": "fc.weight"}, r"--linear fc.weight: no such array"),
        ({"fc_weight": (5, 7)}, {}, r"out.weight \(2, 3\), fc.weight \(5, 7\): each could be the last layer"),
        ({"fc_weight": (5, 7)}, {"linear": "out.weight"}, r"fc.weight \(5, 7\): nothing here takes that"),
        ({"norm_gain": (3,)}, {}, r"norm.gain \(3,\): nothing here takes that"),
        ({"rnn2_weight_ih_l0": (9, 4)}, {}, r"found 'rnn' and 'rnn2'. Name one with --recurrent"),
        ({"rnn_weight_ih_l0": None}, {}, r"one recurrent module is needed.*found none"),
        ({"rnn_weight_hh_l0": (10, 3)}, {}, r"rnn.weight_hh_l0 \(10, 3\): an RNN has as many rows as columns"),
        ({"rnn_weight_hh_l0": None}, {}, r"rnn.weight_hh_l0 is missing"),
    ],
)
def test_what_does_not_fit_is_refused_with_name_and_shape(changes: dict, names: dict, message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        find(state_dict(**changes), **names)
