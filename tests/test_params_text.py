from pathlib import Path

from elman.params_text import changed_params

PARAMS = Path(__file__).parents[1] / "params.yaml"


def test_a_file_without_changes_comes_back_as_it_was():
    for path in (PARAMS, *sorted((PARAMS.parent / "presets").glob("*.yaml"))):
        text = path.read_text(encoding="utf-8")
        assert changed_params(text, {}) == text, path.name


def test_null_words_numbers_and_comments_stay_as_they_are_written():
    text = "# top\na:\n  b: null     # none\n  c: 1e-3     # small\n  d: 'yes'\n  e: [x, y]\n\n# last\nf: {}\n"
    changed = changed_params(text, {"f": {"gru": {"units": 96, "rate": 4.1e-05}}})
    assert changed == text.replace("f: {}\n", "f:\n  gru: {units: 96, rate: 4.1e-05}\n")


def test_what_is_not_named_in_a_section_stays():
    changed = changed_params("f:\n  lstm: {units: 3}\n  gru: {units: 4}\n", {"f": {"gru": {"units": 5}}})
    assert changed == "f:\n  lstm: {units: 3}\n  gru: {units: 5}\n"


def test_lists_and_single_values_can_be_changed_too():
    changed = changed_params("f:\n  a: [x, y]  # names\n  b: old\n", {"f": {"a": ["z"], "b": None}})
    assert changed == "f:\n  a: [z]\n  b: null\n"
