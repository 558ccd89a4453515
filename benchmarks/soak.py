"""Sixty nights of retraining in fast motion: `python -m benchmarks.soak` (as root: it mounts a small disk of its own).

A classifier on small, noisy, made-up reviews. Every night rows arrive and `elman retrain` runs. Once the words drift;
twice the input is bad; twice the job is killed with SIGKILL and started again, as a timer would; once the disk is full;
once two jobs start at once. Afterwards: no champion is worse on the frozen test set than the one before it by more than
the margin, every night has its exit code, the one that was due, and sizes are bounded by what is kept. Writes
benchmarks/soak.json. Takes about half an hour; exits with 1 where a promise is broken.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elman.artifacts import write_json
from tests.helpers.project import Project

KEEP = 8  # nights of which inputs, reports and rejected models are kept
FIRST_ROWS, NEW_ROWS = 700, (5, 30)  # rows before the first night, and of a night
DISK_MB, FILLED_TO_MB = 3000, 1
NOISE = 0.08  # share of rows with the other label
PARAMS: dict[str, Any] = {
    "dataset": {"path": "incoming/reviews.csv", "tasks": ["classifier"], "test_fraction": 0.3},
    "experiment": {"cells": ["gru"], "seeds": [1]},
    "compute": {"checkpoint_minutes": 0},
    "tokenizer": {"vocab_size": 120},
    "classifier": {"embedding_dim": 16, "units": 16, "epochs": 4, "batch_size": 16, "learning_rate": 0.01},
    # Any drift is a reason: a soak is there to train and decide often.
    "retraining": {
        "settle_seconds": 0.2,
        "min_new_rows": 100,
        "min_drift_rows": 1,
        "margin": 0.03,
        "keep_nights": KEEP,
    },
}
WORDS = {
    "good": ["bright", "warm", "splendid", "kind", "lively", "tender"],
    "bad": ["dull", "cold", "dreadful", "mean", "tired", "hollow"],
}
NEW_WORDS = {"good": ["luminous", "generous", "gripping"], "bad": ["tedious", "clumsy", "shrill"]}
SHARED = ["film", "play", "song", "book", "with", "scene", "and", "voice", "again", "evening"]


def main() -> None:
    """Lets the nights pass, and checks what is left."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--nights", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "soak.json")
    arguments = parser.parse_args()
    with _disk() as root:
        soak = Soak(root / "project", seed=arguments.seed, nights=arguments.nights)
        for night in range(arguments.nights):
            row = soak.night(night)
            print(json.dumps(row), flush=True)
        problems = soak.problems()
        result = {"version": 1, "seed": arguments.seed, "keep_nights": KEEP, "nights": soak.rows, "problems": problems}
    write_json(arguments.out, result)
    print("\n".join(problems) or f"{arguments.nights} nights: every promise was kept")
    sys.exit(bool(problems))


class Soak:
    """The project, its growing input, and what happened.

    Args:
        root: A folder that is not there yet.
        seed: Names rows, events and kills.
        nights: How many there will be; what happens is spread over them.
    """

    def __init__(self, root: Path, *, seed: int, nights: int) -> None:
        root.mkdir()
        self._root, self._random = root, random.Random(seed)
        self._project = Project(root)
        self._project.change_params(PARAMS)
        with (root / ".gitignore").open("a") as file:
            file.write("/incoming/\n/retraining/\n")
        self._project.run(["git", "commit", "-qam", "settings"])
        self._input = root / "incoming" / "reviews.csv"
        self._input.parent.mkdir()
        self._input.write_text("text,label\n")
        self._rows = 0
        self._drifted = False
        self._append(FIRST_ROWS)
        spread = {"kill": (0.12, 0.55), "bad": (0.2, 0.7), "drift": (0.35,), "full": (0.45,), "two": (0.8,)}
        self._events = {max(1, round(nights * part)): name for name, parts in spread.items() for part in parts}
        self.rows: list[dict[str, Any]] = []

    def night(self, number: int) -> dict[str, Any]:
        """Rows arrive, something may happen, and the job runs."""
        event = self._events.get(number, "")
        self._drifted |= event == "drift"
        self._append(self._random.randint(*NEW_ROWS))
        started = time.perf_counter()
        lines = getattr(self, f"_{event}", self._run)() if event not in ("", "drift") else self._run()
        last = lines[-1]
        row = {
            "night": number,
            "event": event,
            "results": [line["result"] for line in lines],
            "exit_codes": [line["exit_code"] for line in lines],
            "champion": last.get("challenger" if last["result"] == "promoted" else "champion"),
            "gate": {key: (last.get("gate") or {}).get(key) for key in ("champion_value", "challenger_value")},
            "seconds": round(time.perf_counter() - started, 1),
            **self._sizes(),
        }
        self.rows.append(row)
        return row

    def problems(self) -> list[str]:
        """Promises that were broken."""
        found = []
        margin = PARAMS["retraining"]["margin"]
        for row in self.rows:
            values = row["gate"]
            if row["results"][-1] == "promoted" and values["champion_value"] is not None:
                lost = values["champion_value"] - values["challenger_value"]
                found += [f"night {row['night']}: the new champion is worse by {lost:.4f}"] if lost > margin else []
            expected = {"bad": 30, "two": 20, "full": 40}.get(row["event"])
            if expected is not None and expected not in row["exit_codes"]:
                found.append(f"night {row['night']}, {row['event']}: exit codes {row['exit_codes']}, no {expected}")
            if row["event"] not in ("bad", "full") and row["exit_codes"][-1] not in (0, 10, 11):
                found.append(f"night {row['night']}: ended with {row['exit_codes'][-1]}")
        half = len(self.rows) // 2
        for size in ("retraining_mb", "cache_mb", "store_mb"):
            early, late = (max(row[size] for row in rows) for rows in (self.rows[:half], self.rows[half:]))
            grown = self._rows / FIRST_ROWS  # the input itself grows
            found += [f"{size} grew from {early} to {late}"] if late > grown * early + 5 else []
        status = self._elman("status")
        found += [] if status["champion"] else ["no champion is left"]
        found += [f"the lock is held: {status['running']}"] if status["running"] else []
        return found

    def _run(self) -> list[dict[str, Any]]:
        return [self._elman("retrain")]

    def _kill(self) -> list[dict[str, Any]]:
        """Killed twice somewhere in the job, with all that it started; the timer starts it again."""
        killed = []
        self._append(PARAMS["retraining"]["min_new_rows"])  # so that there is a training to kill
        for _ in range(2):
            process = self._start("retrain")
            try:
                process.communicate(timeout=self._random.uniform(2.0, 40.0))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                killed.append({"result": "killed", "exit_code": -9})
        return [*killed, self._elman("retrain")]

    def _bad(self) -> list[dict[str, Any]]:
        """A file whose labels are gone; mended in the morning."""
        whole = self._input.read_bytes()
        self._input.write_text(
            "text\n" + "".join(f"{line.split(',')[0]}\n" for line in whole.decode().splitlines()[1:])
        )
        try:
            return [self._elman("retrain")]
        finally:
            self._input.write_bytes(whole)

    def _full(self) -> list[dict[str, Any]]:
        """No room on the disk for one night; the input has its rows all the same."""
        self._append(PARAMS["retraining"]["min_new_rows"])
        filler = self._root.parent / "filler"
        state = os.statvfs(self._root)
        with filler.open("wb") as file:
            file.truncate(0)
            for _ in range(max(0, state.f_bavail * state.f_frsize // 2**20 - FILLED_TO_MB)):
                file.write(bytes(2**20))
        try:
            return [self._elman("retrain")]
        finally:
            filler.unlink()

    def _two(self) -> list[dict[str, Any]]:
        """Two jobs at the same moment."""
        self._append(PARAMS["retraining"]["min_new_rows"])
        jobs = [self._start("retrain") for _ in range(2)]
        found = [_last_line(job.communicate()[0]) for job in jobs]
        return sorted(found, key=lambda line: line["result"] != "busy")

    def _append(self, rows: int) -> None:
        lines = []
        for _ in range(rows):
            label = self._random.choice(["good", "bad"])
            own = WORDS[label] + (NEW_WORDS[label] * 4 if self._drifted else [])
            words = [self._random.choice(own + SHARED) for _ in range(self._random.randint(4, 14))]
            if self._random.random() < NOISE:
                label = "bad" if label == "good" else "good"
            lines.append(f"{' '.join(words)} number {self._random.randrange(10**6)},{label}\n")
            self._rows += 1
        with self._input.open("a") as file:
            file.writelines(lines)

    def _start(self, command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["elman", command, "--json"],
            cwd=self._root,
            env=self._project.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def _elman(self, command: str) -> dict[str, Any]:
        return _last_line(self._start(command).communicate()[0])

    def _sizes(self) -> dict[str, Any]:
        cache = self._root / ".dvc" / "cache"
        places = {"retraining": self._root / "retraining", "cache": cache, "store": self._root / "mlruns"}
        return {"rows": self._rows, **{f"{name}_mb": _megabytes(place) for name, place in places.items()}}


def _last_line(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text.strip().splitlines()[-1])
    return found


def _megabytes(folder: Path) -> float:
    sizes = [path.lstat().st_size for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    return round(sum(sizes) / 1e6, 1)


@contextmanager
def _disk() -> Iterator[Path]:
    """A disk of its own, which can be filled without harm to anything else."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


if __name__ == "__main__":
    main()
