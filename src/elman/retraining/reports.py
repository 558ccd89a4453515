"""A report for each run: JSON for programs, a page for people."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from elman.artifacts import read_json, write_text
from elman.errors import ArtifactError
from elman.retraining.outcome import Outcome

_SHOWN = {
    "name": "models",
    "task": "task",
    "cell": "cell",
    "commit": "commit",
    "input": "input",
    "rows": "rows",
    "champion": "champion before",
    "challenger": "challenger",
    "coverage": "share of new tokens that the champion's tokenizer knows",
    "log": "log of the pipeline",
}


def write_report(folder: Path, outcome: Outcome, *, at: datetime) -> Path:
    """Writes `<time>.json` and `<time>.md`; returns the first.

    Args:
        folder: Where reports are kept.
        outcome: How the run ended.
        at: When it ended.
    """
    stem = at.strftime("%Y%m%dT%H%M%S%fZ")
    path = folder / f"{stem}.json"
    value = {"at": at.isoformat(timespec="seconds"), **outcome.to_json(), "report": str(path)}
    write_text(path.with_suffix(".md"), page(value))
    write_text(
        path, json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n"
    )  # last: where it is, the page is too
    return path


def read_reports(folder: Path, *, last: int) -> list[dict[str, Any]]:
    """The last reports, the newest first; one that cannot be read is left out."""
    found = []
    for path in sorted(folder.glob("*.json"), reverse=True)[:last]:
        try:
            found.append(read_json(path))
        except ArtifactError:
            continue
    return found


def page(value: Mapping[str, Any]) -> str:
    """The report as Markdown."""
    stage = f" (stage {value['stage']})" if value.get("stage") else ""
    lines = [f"# {value['result'].replace('_', ' ')}{stage}", "", value["message"], "", "| | |", "|---|---|"]
    lines += [f"| at | {value['at']} |", f"| exit code | {value['exit_code']} |"]
    lines += [f"| {words} | {value[name]} |" for name, words in _SHOWN.items() if value.get(name) is not None]
    for name, title in (
        ("reasons", "Why it trained"),
        ("problems", "What is wrong with the input"),
        ("notes", "Notes"),
    ):
        if value.get(name):
            lines += ["", f"## {title}", "", *(f"- {one}" for one in value[name])]
    if value.get("drift"):
        lines += ["", "## Drift", "", *_drift(value["drift"])]
    if value.get("gate"):
        lines += ["", "## Gate", "", *_gate(value["gate"])]
    return "\n".join(lines) + "\n"


def _drift(drift: Mapping[str, Any]) -> list[str]:
    rows = ["| measure | champion's data | new data | distance | alarm above |", "|---|---|---|---|---|"]
    for name, measure in drift["measures"].items():
        cells = [_number(measure[key]) for key in ("reference", "new", "distance", "threshold")]
        rows.append(f"| {name}{' (alarm)' if measure['alarm'] else ''} | {' | '.join(cells)} |")
    return rows


def _gate(gate: Mapping[str, Any]) -> list[str]:
    keys = ("rule", "measure", "documents", "challenger_value", "champion_value", "difference", "low", "high")
    rows = ["| | |", "|---|---|", *(f"| {key.replace('_', ' ')} | {_number(gate.get(key))} |" for key in keys)]
    return [*rows, "", *(f"- {reason}" for reason in gate["reasons"])]


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.5g}" if isinstance(value, float) else str(value)
