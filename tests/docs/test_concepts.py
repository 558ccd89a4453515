"""The examples of docs/concepts print what the pages show, and the figures are drawn from the values worked by hand."""

import contextlib
import io
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from docs_tools import figures
from docs_tools.concepts import gates, masks, perplexity, state, truncation
from tests.helpers.stage_deps import ROOT

FOLDER = ROOT / "docs" / "concepts"
EXAMPLE = re.compile(r"```python\n(.*?)```\n```\n(.*?)```", flags=re.DOTALL)
MODULES = {"gates": gates, "masks": masks, "perplexity": perplexity, "state": state, "truncation": truncation}


@pytest.mark.parametrize("page", sorted(MODULES))
def test_the_examples_of_a_page_print_what_it_shows(page: str) -> None:
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    examples = EXAMPLE.findall(text)
    assert len(examples) == text.count("```python")
    for code, shown in examples:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, page, "exec"), {})
        assert printed.getvalue() == shown


@pytest.mark.parametrize("page", sorted(MODULES))
def test_a_page_has_a_figure_that_its_module_draws(page: str) -> None:
    assert f"](figures/{page}.png)" in (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    assert (FOLDER / "figures" / f"{page}.png").read_bytes().startswith(b"\x89PNG")
    assert isinstance(MODULES[page].draw(MODULES[page].values()), Figure)


def test_every_figure_is_of_a_page() -> None:
    assert sorted(figures.FIGURES) == sorted(MODULES) == sorted(path.stem for path in (FOLDER / "figures").iterdir())


def test_the_figures_hold_the_values_worked_by_hand() -> None:
    states = state.values()["states"]
    np.testing.assert_allclose(states[0.5][:3], [0.762, 0.363, 0.180], atol=5e-4)
    np.testing.assert_allclose(states[2.0][:3], [0.762, 0.909, 0.949], atol=5e-4)
    found = gates.values()
    np.testing.assert_allclose(found["left"][1.0], 0.7310586 ** np.arange(gates.STEPS + 1), atol=1e-5)
    assert found["half_lives"][0.0] == pytest.approx(1.0, abs=1e-4)
    block = perplexity.values()["block"]
    assert block["perplexity"] == pytest.approx(2**2.25)
    assert (block["perplexity_per_word"], block["bits_per_byte"]) == pytest.approx((8.0, 1.0))
    assert perplexity.values()["bits"] == pytest.approx([1, 2, 3, 3])


def test_the_numbers_of_the_lstm_step_in_the_text_are_those_of_the_equations() -> None:
    text = (FOLDER / "gates.md").read_text(encoding="utf-8")
    row = r"^\| ([ifgo]) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \| (sigmoid|tanh): (\S+) \|$"
    rows = re.findall(row, text, flags=re.MULTILINE)
    assert [row[0] for row in rows] == ["i", "f", "g", "o"]
    squash = {"sigmoid": lambda z: 1 / (1 + np.exp(-z)), "tanh": np.tanh}
    gate = {}
    for name, *parts, total, function, value in rows:
        assert sum(map(float, parts)) == pytest.approx(float(total))
        gate[name] = squash[function](float(total))
        assert gate[name] == pytest.approx(float(value), abs=5e-4)
    c = gate["f"] * 2.0 + gate["i"] * gate["g"]
    assert f"= {c:.3f} and h = {gate['o']:.3f} * tanh({c:.3f}) = {gate['o'] * np.tanh(c):.3f}" in text


def test_masked_steps_repeat_the_output_and_windows_keep_it(tmp_path: Path) -> None:
    found = masks.values()
    np.testing.assert_array_equal(found["masked"][masks.REAL :], found["masked"][masks.REAL - 1])
    np.testing.assert_allclose(found["masked"][: masks.REAL], found["unmasked"][: masks.REAL], atol=1e-6)
    assert np.ptp(found["unmasked"][masks.REAL :]) > 0.01
    cut = truncation.values()
    np.testing.assert_allclose(cut["whole_last"], cut["cut_last"], atol=1e-6)
    last = slice(truncation.STEPS - truncation.WINDOW, None)
    np.testing.assert_allclose(cut["whole"][last], cut["cut"][last], rtol=1e-4)
    assert not cut["cut"][: last.start].any()
    assert cut["whole"].all()
