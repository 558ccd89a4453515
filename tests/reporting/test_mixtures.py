from elman.reporting.mixtures import mixture_note


def test_the_note_names_the_weight_of_every_network(language_model) -> None:
    rows = [row for row in language_model["rows"] if row["kind"] == "mixture"]
    for row, weight in zip(rows, (0.25, 0.5, 0.126), strict=True):
        row["weight"]["mean"] = weight
    note = mixture_note(language_model)
    assert "the share w of the network's probability and the rest of Kneser-Ney's" in note
    assert note.endswith("Mean w: SimpleRNN 0.25, LSTM 0.50, GRU 0.13.")


def test_without_mixtures_there_is_no_note(classifier) -> None:
    assert mixture_note(classifier) is None
