"""The pages that are made for the site, and links that are right in the repository and in the site."""

import re
import shutil
from pathlib import Path
from typing import Annotated, Literal

import pytest
from mkdocs.exceptions import PluginError
from pydantic import Field

from docs_tools import built, hooks, links, pages
from docs_tools.commands import app_command, commands_page
from docs_tools.docstrings import readable
from docs_tools.params import allowed, params_page
from docs_tools.reference import literature_page, public_names, reference_pages
from elman.cli import app
from elman.config import Params
from tests.helpers.shown_commands import PAGES
from tests.helpers.stage_deps import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
EVERY = [*PAGES, ROOT / "CHANGELOG.md"]


def anchors(text: str) -> set[str]:
    plain = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return {pages.anchor(title) for title in re.findall(r"^#+ (.+)$", plain, flags=re.MULTILINE)}


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_to_a_file_and_a_heading_of_the_repository(path: Path) -> None:
    text, origin = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
    for target in links.linked(text):
        there, fragment = links.resolved(target, origin=origin)
        assert (ROOT / there).exists(), f"{origin} links to {target}"
        if fragment:
            assert fragment in anchors((ROOT / there).read_text(encoding="utf-8")), f"{origin} links to {target}"
    for fragment in re.findall(r"\]\(#([^)]+)\)", text):
        assert fragment in anchors(text), f"{origin} links to #{fragment}"


def test_a_link_that_leaves_docs_leads_to_a_page_of_the_site_and_code_stays_as_it_is() -> None:
    text = (
        "[a](../params.yaml) [b](../benchmarks/export.py#L3) [c](../README.md#your-own-text) [d](../README.md)\n"
        "[e](results.md#speed) [f](https://example.org/x.md) [`g`](../CONTRIBUTING.md) `[h](../x.md)` ![i](a/b.png)\n"
        "```python\nx[0](../y.md)\n```\n[j](#own)\n"
    )
    assert links.rewritten(text, origin="docs/page.md", page="page.md") == (
        "[a](reference/params.md) [b](files/benchmarks/export.py.md#L3) [c](guides/own-data.md#your-own-text) "
        "[d](index.md)\n"
        "[e](results.md#speed) [f](https://example.org/x.md) [`g`](contributing.md) `[h](../x.md)` ![i](a/b.png)\n"
        "```python\nx[0](../y.md)\n```\n[j](#own)\n"
    )
    assert links.rewritten("[a](docs/mlflow.md)", origin="README.md", page="guides/use.md") == "[a](../mlflow.md)"
    assert (
        links.rewritten("[a](../../params.yaml)", origin="docs/x/y.md", page="x/y.md") == "[a](../reference/params.md)"
    )
    assert links.outside({"docs/a.md": text, "README.md": "[a](docs/b.md) [b](dvc.yaml)"}) == {
        "benchmarks/export.py",
        "dvc.yaml",
    }


def test_every_section_of_the_readme_is_on_one_page_of_the_site_with_all_of_its_text() -> None:
    made = pages.readme_pages(README)
    plain = re.sub(r"^#+ ", "", README, flags=re.MULTILINE)
    lines = [line for text in made.values() for line in re.sub(r"^#+ ", "", text, flags=re.MULTILINE).splitlines()]
    assert sorted(filter(None, lines)) == sorted(filter(None, plain.splitlines()))
    assert all(text.startswith("# ") for text in made.values())
    assert all(text.count("\n# ") == 0 for text in made.values())
    with pytest.raises(ValueError, match="A new one"):
        pages.readme_pages(README + "\n## A new one\n\ntext\n")


def test_the_page_of_commands_has_every_command_and_option() -> None:
    page = commands_page()
    found = 0

    def look(command: object, name: str) -> None:
        nonlocal found
        for word, below in getattr(command, "commands", {}).items():
            look(below, f"{name} {word}")
        if not hasattr(command, "commands"):
            section = page.split(f"# {name}\n")[1].split("\n#")[0]
            for param in command.params:  # type: ignore[attr-defined]
                found += 1
                name_shown = param.opts[0] if param.param_type_name == "option" else param.name.upper()
                assert name_shown == "--help" or f"`{name_shown}" in section, (name, name_shown)

    look(app_command(app), "elman")
    assert found > 60


def test_the_page_of_params_has_every_key_with_its_value_and_what_is_allowed() -> None:
    page = params_page(ROOT / "params.yaml")
    for name, field in Params.model_fields.items():
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        for key in getattr(field.annotation, "model_fields", {}):
            assert re.search(rf"^- `{key}(: [^`]+)?`<br>", section, flags=re.MULTILINE), (name, key)
    classifier = page.split("\n## classifier\n")[1]
    assert "- `units: 64`<br>a whole number > 0 – U, a direction" in classifier
    assert "by default last" in classifier.split("`pooling")[1].split("\n")[0]


def test_what_a_key_may_hold_is_said_in_words() -> None:
    assert allowed(Literal["last", "mean"] | None) == "last, mean or null"
    assert allowed(dict[str, int]) == "a mapping from text to a whole number"
    assert allowed(Annotated[float, Field(gt=0.0, lt=1.0)]) == "a number > 0.0, < 1.0"
    assert allowed(tuple[str, ...]) == "a list of text"


def test_every_key_of_the_literature_in_a_docstring_is_in_the_bibliography_and_on_its_page() -> None:
    bibliography = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8")
    page = literature_page(bibliography)
    keys = set(re.findall(r"^@\w+\{(\w+),", bibliography, flags=re.MULTILINE))
    assert {key for key in keys if f"\n## {key}\n" in page} == keys
    assert "Hochreiter, Sepp; Schmidhuber, Jürgen. Long Short-Term Memory. Neural Computation, 1997." in page
    named = set()
    for path in sorted((ROOT / "src" / "elman").rglob("*.py")):
        for block in re.findall(r"^ +References:\n((?: {4,}.*\n)+?)(?=\s*\n|\s*\"\"\")", path.read_text("utf-8"), re.M):
            named |= set(re.findall(r"\b[a-z]+\d{4}[a-z]+\b", block))
    assert len(named) > 10
    assert named - keys == set()


def test_the_reference_names_every_layer_and_metric_that_is_public() -> None:
    made = reference_pages(ROOT / "src" / "elman")
    assert "::: elman.layers.lstm.LSTM\n" in made["reference/layers.md"]
    assert "forget_bias" not in made["reference/layers.md"]
    metrics = public_names(ROOT / "src" / "elman" / "metrics")
    assert "elman.metrics.perplexity.perplexity_block" in metrics
    assert all(f"::: {name}\n" in made["reference/metrics.md"] for name in metrics)


def test_a_docstring_becomes_one_that_the_site_shows_well() -> None:
    text = (
        "Adds.\n\nWeights:\n    kernel: float (D, U). W\n        and more.\n    bias: float (U,).\n\n"
        "Example:\n    >>> 1\n    1\n"
    )
    assert readable(text) == (
        "Adds.\n\n**Weights:**\n\n- **`kernel`** – float (D, U). W and more.\n- **`bias`** – float (U,).\n\n"
        "Examples:\n    >>> 1\n    1\n"
    )


def test_what_a_browser_would_load_from_elsewhere_is_found_and_a_plain_link_is_not() -> None:
    assert built.loaded_from_elsewhere(
        '<script src="https://a.example/x.js"></script><img alt=x src=//b.example/y.png>'
        '<link rel="stylesheet" href="https://c.example/z.css"><style>@import url(https://d.example/f.css)</style>'
    ) == ["https://a.example/x.js", "//b.example/y.png", "https://c.example/z.css", "https://d.example/f.css"]
    assert not built.loaded_from_elsewhere(
        '<a href="https://a.example">x</a><script src="assets/x.js"></script><link rel="canonical" href="https://a.b/">'
        '<link href="assets/main.css" rel="stylesheet"><img src="data:image/png;base64,x">'
    )


def test_a_link_of_the_built_site_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.html").write_text('<h2 id="here">x</h2><a href="../c.html#there">x</a><a href=#here>x</a>')
    (tmp_path / "c.html").write_text(
        '<h2 id=there></h2><a href="a/b.html#gone">x</a><img alt="" src="a/no.png"><a href="https://x.example/#y">x</a>'
    )
    assert built.broken_links(tmp_path) == [
        "c.html: a/b.html#gone: no such heading",
        "c.html: a/no.png: no such file",
    ]


@pytest.mark.slow
def test_the_strict_build_names_every_wrong_link_and_page_and_ends_badly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    (tmp_path / "docs" / "new.md").write_text("# In no navigation\n")
    with (tmp_path / "docs" / "mlflow.md").open("a") as file:
        file.write("\n[x](no.md) [x](results.md#no) ![x](no.png) [x](#none)\n")
    config = load_config(str(ROOT / "mkdocs.yml"), docs_dir=str(tmp_path / "docs"), site_dir=str(tmp_path / "site"))
    with pytest.raises(Abort):
        build(config)
    said = "\n".join(record.getMessage() for record in caplog.records)
    for part in ("new.md", "'no.md'", "'results.md#no'", "'no.png'", "'#none'"):
        assert part in said


def test_a_link_to_a_file_that_the_repository_does_not_have_is_refused() -> None:
    with pytest.raises(PluginError, match=r"no/such\.py: a page links to it"):
        hooks.read("no/such.py")
