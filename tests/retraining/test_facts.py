import json
from collections.abc import Callable

import numpy as np
import pytest

from elman.data.duplicates import text_digest
from elman.errors import ArtifactError
from elman.retraining import facts as module
from elman.retraining.facts import DataFacts, new_rows
from tests.helpers.prepared_files import reviews

Facts = Callable[..., DataFacts]


def test_facts_count_what_the_tables_hold(facts: Facts) -> None:
    rows = reviews(num_rows=200)
    found = facts([*rows, rows[0], rows[0], rows[7], ("", "good")], header="text,label,date")
    assert (found.rows, found.rejected, found.duplicates) == (203, 1, 3)
    assert found.labels == {"bad": 101, "good": 102}
    assert found.columns == ("text", "label", "date")
    assert found.encodings == ("utf-8",)
    assert found.duplicate_share == 3 / 203
    assert (found.replacement_texts, found.garbled_texts, found.digest_shift) == (0, 0, 0)
    assert text_digest(rows[5][0]) in found.digests.tolist()
    assert len(found.digests) == 200


def test_texts_in_a_wrong_codec_are_counted_and_sound_accents_are_not(facts: Facts) -> None:
    sound = [
        (f"le caf\u00e9 num\u00e9ro {n} \u00e9tait ferm\u00e9 \u00ab h\u00e9 \u00bb \u00abo\u00f9\u00bb", "a")
        for n in range(50)
    ]
    broken = [(f"caf\u00e9 pr\u00e8s {n}".encode().decode("cp1252"), "b") for n in range(50)]
    lost = [(f"caf\ufffd {n}", "b") for n in range(7)]
    found = facts([*sound, *broken, *lost])
    assert (found.garbled_texts, found.replacement_texts) == (50, 7)
    assert found.damaged_share == 57 / 107


def test_facts_survive_json(facts: Facts) -> None:
    found = facts(reviews(num_rows=80))
    stored = DataFacts.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False)))
    assert np.array_equal(stored.digests, found.digests)
    assert stored.digests.dtype == np.uint64
    assert stored.to_json() == found.to_json()


@pytest.mark.parametrize("value", [{}, {"version": 2}, None, {"version": 1, "path": "x"}])
def test_what_is_no_facts_is_refused(value: object) -> None:
    with pytest.raises(ArtifactError, match="not the facts of a data set"):
        DataFacts.from_json(value)


def test_new_rows_are_texts_that_the_accepted_data_lacks(facts: Facts) -> None:
    rows = reviews(num_rows=150)
    accepted, new = facts(rows), facts([*rows[20:], *reviews(num_rows=33, start=500), rows[30]])
    assert new_rows(new, accepted) == 33
    assert new_rows(accepted, new) == 20
    assert new_rows(new, None) == 163


def test_of_many_texts_an_even_share_is_kept_and_new_ones_are_estimated(
    facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = reviews(num_rows=400)
    whole = facts(rows)
    monkeypatch.setattr(module, "MAX_DIGESTS", 60)
    accepted, new = facts(rows), facts([*rows, *reviews(num_rows=400, start=5_000)])
    assert (accepted.digest_shift, new.digest_shift) == (3, 4)
    assert 25 <= len(accepted.digests) <= 75
    assert set(accepted.digests.tolist()) < set(whole.digests.tolist())
    assert new_rows(whole, accepted) == 0
    # 400 new texts, one in 16 kept: 25 +- 5.
    assert 16 * 10 <= new_rows(new, accepted) <= 16 * 40
