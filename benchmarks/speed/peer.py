"""One library's process, as the timing run sees it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Peer:
    """A worker process that answers one request at a time.

    Args:
        name: What the table calls it.
        module: The worker's module in `benchmarks.speed`, with its arguments.
        threads: What the library may use.
        encoded: Folder of the encoded R8.
    """

    def __init__(self, name: str, module: list[str], *, threads: int, encoded: Path) -> None:
        self.name, self.threads, self.encoded = name, threads, encoded
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "2", "KERAS_BACKEND": "tensorflow"}
        path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"benchmarks.speed.{module[0]}", *module[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **quiet, "PYTHONPATH": path, "OMP_NUM_THREADS": str(threads)},
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send one request and wait for its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({**request, "threads": self.threads, "encoded": str(self.encoded)})
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the worker of {self.name} ended with code {self._process.wait()}; its error is above")
        return dict(json.loads(answer))

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
