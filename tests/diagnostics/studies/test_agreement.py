from elman.diagnostics.studies.agreement import AgreementSettings, study_agreement
from elman.diagnostics.studies.recorder import Unrecorded


def test_a_gru_learns_agreement_over_one_attractor():
    settings = AgreementSettings(trained_attractors=1, tested_attractors=1, steps=400, checks=1, test_sentences=300)
    found = study_agreement(settings, cells=["gru"], seeds=[1], recorder=Unrecorded(), report=lambda line: None)
    (row,) = found["rows"]
    assert row["accuracy"]["opposite"][1]["mean"] > 0.95
    last, _ = found["baselines"]
    assert last["accuracy"]["opposite"][1] == 0.0
    assert abs(last["accuracy"]["random"][1] - 0.5) < 0.1
