import optuna
import pytest

from elman.config import ClassifierConfig, LanguageModelConfig
from elman.searching.space import in_force, search_space, settings_of


def classifier(**changes) -> ClassifierConfig:
    plain = {"embedding_dim": 8, "units": 12, "learning_rate": 0.003, "epochs": 2, "batch_size": 4}
    return ClassifierConfig(**plain | changes)


@pytest.mark.parametrize(
    "config",
    [
        classifier(),
        classifier(units=1, num_layers=4, dropout=0.9, word_dropout=0.45, embedding_dropout=0.0),
        LanguageModelConfig(embedding_dim=7, units=7, learning_rate=20.0, epochs=1, batch_size=2, tie_embeddings=True),
    ],
)
def test_the_settings_in_force_lie_in_the_ranges(config):
    space = search_space(config, tune_units=True)
    point = in_force(config, space)
    assert point["units"] == config.units
    for name, distribution in space.items():
        assert distribution._contains(distribution.to_internal_repr(point[name])), name
    assert {name: value for name, value in settings_of(point, config).items() if name in point} == point


def test_every_point_of_the_space_is_valid_and_the_learning_rate_is_drawn_by_its_logarithm():
    config = classifier()
    space = search_space(config, tune_units=True)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=3))
    points = [settings_of(study.ask(space).params, config) for _ in range(300)]
    for point in points:
        assert ClassifierConfig.model_validate({**config.model_dump(), **point})
    below = sum(point["learning_rate"] < 0.003 for point in points) / len(points)
    assert 0.4 < below < 0.6
    assert {point["units"] for point in points} == {6, 9, 12, 18, 24}
    assert {point["num_layers"] for point in points} == {1, 2}


def test_what_switches_the_fast_kernels_off_is_not_tuned():
    assert "recurrent_dropout" not in search_space(classifier(), tune_units=True)


def test_units_that_something_else_chooses_are_not_tuned():
    assert "units" not in search_space(classifier(), tune_units=False)


def test_a_tied_embedding_follows_the_units_and_another_one_does_not():
    plain = {"embedding_dim": 7, "units": 7, "learning_rate": 0.1, "epochs": 1, "batch_size": 2}
    tied, free = (LanguageModelConfig(**plain, tie_embeddings=tie) for tie in (True, False))
    assert settings_of({"units": 14}, tied) == {"units": 14, "embedding_dim": 14}
    assert settings_of({"units": 14}, free) == {"units": 14}
