import itertools
import re

import pytest

from elman.errors import ConfigError
from elman.models.parameter_count import count_parameters, match_parameters, with_units
from elman.models.spec import ModelSpec
from elman.models.store import build_model

CELLS = ("simple_rnn", "lstm", "gru")


def classifier(**changes) -> ModelSpec:
    plain = {"task": "classifier", "cell": "lstm", "vocab_size": 31, "num_classes": 3, "embedding_dim": 6, "units": 5}
    return ModelSpec(**plain | changes)


def language_model(**changes) -> ModelSpec:
    plain = {"task": "language_model", "cell": "lstm", "vocab_size": 31, "embedding_dim": 6, "units": 5}
    return ModelSpec(**plain | changes)


def test_a_count_worked_out_by_hand():
    # 31 x 6 embedding; 4 gates of 5 x (6 + 5 + 1); 5 x 3 + 3 head
    assert count_parameters(classifier()) == 186 + 240 + 18
    # 31 x 5 embedding, which is the output too; 3 gates of 5 x (5 + 5 + 2); 31 output biases
    assert count_parameters(language_model(cell="gru", embedding_dim=5, tie_embeddings=True)) == 155 + 180 + 31


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("num_layers", [1, 2, 3])
def test_a_classifier_is_counted_as_it_is_built(cell, num_layers):
    for bidirectional, pooling in itertools.product((False, True), ("last", "mean", "max", "all")):
        spec = classifier(cell=cell, num_layers=num_layers, bidirectional=bidirectional, pooling=pooling)
        assert count_parameters(spec) == build_model(spec).count_params(), spec


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("num_layers", [1, 2, 3])
@pytest.mark.parametrize("tied", [False, True])
def test_a_language_model_is_counted_as_it_is_built(cell, num_layers, tied):
    spec = language_model(cell=cell, num_layers=num_layers, tie_embeddings=tied, embedding_dim=5 if tied else 6)
    assert count_parameters(spec) == build_model(spec).count_params()


@pytest.mark.parametrize("cell", CELLS)
def test_no_other_units_come_nearer_to_the_wanted_number(cell):
    architectures = [
        classifier(cell=cell, vocab_size=600, bidirectional=True, pooling="all", num_layers=2),
        language_model(cell=cell, vocab_size=600, tie_embeddings=True, embedding_dim=5),
        language_model(cell=cell, vocab_size=600),
    ]
    for spec in architectures:
        for wanted in (count_parameters(with_units(spec, 40)) + shift for shift in (-200, -3, 0, 200)):
            units = match_parameters(spec, wanted)
            counts = {other: count_parameters(with_units(spec, other)) for other in range(1, 90)}
            assert abs(counts[units] - wanted) == min(abs(count - wanted) for count in counts.values())


def test_every_cell_comes_within_2_percent_of_a_default_lstm():
    lstm = count_parameters(classifier(vocab_size=8000, embedding_dim=128, units=64, bidirectional=True, pooling="all"))
    for cell in ("simple_rnn", "gru"):
        spec = classifier(cell=cell, vocab_size=8000, embedding_dim=128, bidirectional=True, pooling="all")
        units = match_parameters(spec, lstm)
        assert units > 64
        assert count_parameters(with_units(spec, units)) == pytest.approx(lstm, rel=0.02)


def test_a_tied_embedding_is_as_wide_as_the_chosen_units():
    tied = language_model(tie_embeddings=True, embedding_dim=5)
    assert with_units(tied, 9).embedding_dim == 9
    assert with_units(language_model(), 9).embedding_dim == 6


def test_a_number_that_whole_units_do_not_reach_is_refused_with_the_nearest():
    spec = language_model(cell="simple_rnn", vocab_size=5000, tie_embeddings=True, embedding_dim=5)
    counts = [count_parameters(with_units(spec, units)) for units in (3, 4)]
    wanted = counts[0] + 1500
    text = f"nearest is {counts[0]:,} with 3 units ({(counts[0] - wanted) / wanted:+.1%})"
    with pytest.raises(ConfigError, match=re.escape(text)):
        match_parameters(spec, wanted)


def test_fewer_parameters_than_the_embedding_alone_are_refused():
    with pytest.raises(ConfigError, match="with 1 units"):
        match_parameters(classifier(), 100)
