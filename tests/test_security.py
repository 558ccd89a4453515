"""What docs/security.md promises about this repository as a whole."""

import ast
import re

from tests.helpers.stage_deps import ROOT

_RUNS_CODE = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def test_everything_that_listens_does_so_on_this_machine_only() -> None:
    texts = [ROOT / "Makefile", ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "pipelines").glob("*.py")]
    texts += [path for path in (ROOT / "docs" / "schedules").iterdir() if path.suffix != ".md"]
    started = []
    for path in texts:
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.search(r"mlflow (ui|server|models serve)[^|`]* -", line):
                started.append(line)
                assert "--host 127.0.0.1" in line, f"{path}: {line}"
            assert "0.0.0.0" not in line or "not `--host 0.0.0.0`" in line, f"{path}: {line}"
    assert any("mlflow ui" in line for line in started)


def test_the_package_reads_no_pickle_evaluates_no_text_and_starts_no_shell() -> None:
    found = []
    for path in sorted((ROOT / "src" / "elman").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: set[str] = set()
            if isinstance(node, ast.Import):
                names = {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {(node.module or "").split(".")[0]}
            elif isinstance(node, ast.Call):
                words = {keyword.arg: keyword.value for keyword in node.keywords}
                if isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec"):
                    found.append(f"{path}:{node.lineno}: {node.func.id}")
                for name, wrong in (("shell", True), ("allow_pickle", True), ("safe_mode", False)):
                    if isinstance(words.get(name), ast.Constant) and words[name].value is wrong:
                        found.append(f"{path}:{node.lineno}: {name}={wrong}")
            found += [f"{path}:{node.lineno}: {name}" for name in names & _RUNS_CODE]
    assert found == []
