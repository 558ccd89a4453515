import numpy as np

from elman.diagnostics.studies.agreement import AgreementSettings, _share_right, study_agreement
from elman.diagnostics.studies.agreement_sentences import PLURAL_VERBS, SINGULAR_VERBS, WORDS
from elman.diagnostics.studies.recorder import Unrecorded


def test_a_verb_is_right_where_its_number_has_more_probability_in_sum():
    probabilities = np.zeros((3, len(WORDS)))
    probabilities[0, PLURAL_VERBS[:3]] = 0.2  # 0.6 in three parts against 0.4 in one
    probabilities[0, SINGULAR_VERBS[0]] = 0.4
    probabilities[1, SINGULAR_VERBS[2]] = 0.9
    probabilities[2, SINGULAR_VERBS[2]] = 0.9
    assert _share_right(probabilities, np.array([1, 0, 1])) == 2 / 3


def test_a_gru_learns_agreement_over_one_attractor():
    settings = AgreementSettings(trained_attractors=1, tested_attractors=1, steps=400, checks=1, test_sentences=300)
    found = study_agreement(settings, cells=["gru"], seeds=[1], recorder=Unrecorded(), report=lambda line: None)
    (row,) = found["rows"]
    assert row["accuracy"]["opposite"][1]["mean"] > 0.95
    last, _ = found["baselines"]
    assert last["accuracy"]["opposite"][1] == 0.0
    assert abs(last["accuracy"]["random"][1] - 0.5) < 0.1
