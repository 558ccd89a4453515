import numpy as np

from elman.diagnostics.studies.sequence_tasks import adding_batch, reset_batch


def test_adding_asks_for_the_sum_of_one_marked_value_of_each_half():
    inputs, targets = adding_batch(np.random.default_rng(1), batch_size=50, length=21)
    values, markers = inputs[..., 0], inputs[..., 1]
    assert set(np.unique(markers)) == {0.0, 1.0}
    assert (markers[:, :10].sum(axis=1) == 1).all()
    assert (markers[:, 10:].sum(axis=1) == 1).all()
    np.testing.assert_allclose(targets[:, 0], (values * markers).sum(axis=1), rtol=1e-6)


def test_the_variance_of_the_sum_is_two_twelfths():
    targets = adding_batch(np.random.default_rng(2), batch_size=100_000, length=4).targets
    assert abs(targets.var() - 2 / 12) < 0.002


def test_markers_reach_every_position():
    markers = adding_batch(np.random.default_rng(3), batch_size=500, length=6).inputs[..., 1]
    assert (markers.sum(axis=0) > 0).all()


def test_reset_asks_at_each_step_for_the_sum_since_the_last_reset():
    inputs, targets = reset_batch(np.random.default_rng(4), batch_size=20, length=30, reset_probability=0.2)
    for row, answers in zip(inputs, targets, strict=True):
        assert row[0, 1] == 1.0
        for step in range(30):
            last = max(place for place in range(step + 1) if row[place, 1] == 1.0)
            assert abs(answers[step] - row[last : step + 1, 0].sum()) < 1e-5


def test_the_share_of_resets_is_the_probability():
    resets = reset_batch(np.random.default_rng(5), batch_size=500, length=101, reset_probability=0.05).inputs[:, 1:, 1]
    assert abs(resets.mean() - 0.05) < 0.005
