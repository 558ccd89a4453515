"""The library files that each stage's script imports, against the `deps` of dvc.yaml.

DVC re-runs a stage when a file in its deps changes, and knows nothing of imports. This follows them in the source text.
`python -m tests.helpers.stage_deps --write` puts the right lists into the pipeline files.
"""

import argparse
import ast
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
PIPELINE_FILES = tuple(ROOT / name for name in ("dvc.yaml", "data/dvc.yaml", "pipelines/start/dvc.yaml"))


def module_files(module: str) -> list[Path]:
    """The file of a dotted name, and the __init__ files of the packages that it stands in."""
    parts = module.split(".")
    found = []
    for end in range(1, len(parts) + 1):
        base = ROOT / "src" / Path(*parts[:end])
        found.extend(file for file in (base / "__init__.py", base.with_suffix(".py")) if file.is_file())
    return found


def imported_files(file: Path) -> set[Path]:
    """All files of this package that `file` imports, directly or through others; `file` itself is not among them."""
    seen: set[Path] = set()
    waiting = [file]
    while waiting:
        for node in ast.walk(ast.parse(waiting.pop().read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                if name.split(".")[0] == "elman":
                    new = set(module_files(name)) - seen
                    seen |= new
                    waiting.extend(new)
    return seen - {file}


def script_of(stage: dict[str, Any]) -> Path:
    """The script that a stage's command runs."""
    words = [word for word in str(stage["cmd"]).split() if word.endswith(".py")]
    assert len(words) == 1, f"expected one script in the command {stage['cmd']!r}"
    return ROOT / words[0]


def code_deps(script: Path) -> list[str]:
    """What the deps of a stage must hold: the script, then the files that it imports, sorted."""
    files = sorted(str(file.relative_to(ROOT)) for file in imported_files(script))
    return [str(script.relative_to(ROOT)), *files]


def is_code(dep: str) -> bool:
    """Whether a dep is a source file of ours."""
    return dep.endswith(".py")


def stages(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Stage bodies by name; what stands below `do` for a foreach stage."""
    return {name: body.get("do", body) for name, body in document["stages"].items()}


def wrong_stages() -> dict[str, list[str]]:
    """For each stage whose code deps are wrong: what is missing (+) and what is too much (-)."""
    found = {}
    for file in PIPELINE_FILES:
        for name, stage in stages(YAML(typ="safe").load(file.read_text(encoding="utf-8"))).items():
            right, there = set(code_deps(script_of(stage))), {dep for dep in stage["deps"] if is_code(dep)}
            if right != there:
                found[f"{file.relative_to(ROOT)}:{name}"] = [
                    *(f"+ {dep}" for dep in sorted(right - there)),
                    *(f"- {dep}" for dep in sorted(there - right)),
                ]
    return found


def write() -> None:
    """Replaces the code deps in the pipeline files, leaving all else as it is."""
    yaml = YAML()
    yaml.width = 120
    yaml.preserve_quotes = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    for file in PIPELINE_FILES:
        document = yaml.load(file.read_text(encoding="utf-8"))
        for stage in stages(document).values():
            stage["deps"] = [*code_deps(script_of(stage)), *(dep for dep in stage["deps"] if not is_code(dep))]
        with file.open("w", encoding="utf-8") as stream:
            yaml.dump(document, stream)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        write()
    for name, lines in wrong_stages().items():
        print("\n  ".join([name, *lines]))  # noqa: T201
