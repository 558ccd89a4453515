"""The data block of the page."""

import re
from types import SimpleNamespace

import pytest

from elman.reporting.sections.data import data_section


def block(*, task: str = "classifier", num_labels: int = 3) -> str:
    labels = [{"label": f"<{n}>", "train": 100 - n, "valid": 10, "test": 20 + n} for n in range(num_labels)]
    inputs = SimpleNamespace(comparison={"task": task}, prepared={"labels": labels}, encoded={})
    return data_section(inputs)  # type: ignore[arg-type]


@pytest.mark.parametrize(("num_labels", "folded"), [(1, False), (10, False), (11, True), (52, True)])
def test_a_long_list_of_labels_is_folded_away_behind_its_ends(num_labels: int, folded: bool) -> None:
    page = block(num_labels=num_labels)
    assert page.count("<details>") == 1 + folded  # the lengths are folded always
    assert len(re.findall(r"<td>2\d</td>|<td>[3-7]\d</td>", page)) >= num_labels
    last = num_labels - 1
    assert (f"{num_labels} labels, from &lt;0&gt; (100 of train) to &lt;{last}&gt; ({100 - last})" in page) == folded


def test_a_language_model_is_shown_no_labels() -> None:
    assert "&lt;0&gt;" not in block(task="language_model")


def test_a_label_cannot_be_taken_for_html() -> None:
    assert "<0>" not in block()
