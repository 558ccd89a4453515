"""The dependency audit fails on a vulnerability, and only says so where it cannot be made."""

import hashlib
import importlib.util
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import audit
from tests.helpers.stage_deps import ROOT

SOUND = {"name": "numpy", "version": "2.3.1", "vulns": []}
BROKEN = {
    "name": "requests",
    "version": "2.0.0",
    "vulns": [{"id": "PYSEC-2018-28", "fix_versions": ["2.20.0"], "aliases": ["CVE-2018-18074"], "description": "x"}],
}
SKIPPED = {"name": "torch", "skip_reason": "Dependency not found on PyPI and could not be audited: torch (2.13.0)"}


def report(*packages: dict[str, Any]) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


def test_a_known_vulnerability_fails_and_is_named_with_the_version_that_mends_it() -> None:
    code, words = audit.judge(report(SOUND, BROKEN, SKIPPED), "Found 1 known vulnerability in 1 package")
    assert code == 1
    assert "requests 2.0.0: PYSEC-2018-28, mended in 2.20.0" in words
    assert "numpy" not in words


def test_an_advisory_that_is_accepted_with_a_reason_does_not_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "ACCEPTED", {"CVE-2018-18074": "no redirect is followed with a password"})
    assert audit.judge(report(SOUND, BROKEN), "") == (0, "dependency audit: 2 packages, no known vulnerability")


@pytest.mark.parametrize(
    ("output", "errors"),
    [
        ("", "ERROR:pip_audit._cli:Could not connect to PyPI's vulnerability feed"),
        ("", "requests.exceptions.ConnectTimeout: Max retries exceeded"),
        (report(SKIPPED, SKIPPED), ""),
    ],
)
def test_without_an_index_it_is_skipped_and_says_so(output: str, errors: str) -> None:
    code, words = audit.judge(output, errors)
    assert code == 0
    assert "not reachable: skipped" in words


@pytest.mark.parametrize("errors", ["", "No module named pip_audit", "ERROR: requirement numpy is missing a hash"])
def test_an_audit_that_breaks_for_another_reason_fails(errors: str) -> None:
    assert audit.judge("", errors)[0] == 1


class Advisories(BaseHTTPRequestHandler):
    """Answers as osv.dev does: requests 2.0.0 has an advisory, everything else has none."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = asked["package"]["name"] == "requests" and asked["version"] == "2.0.0"
        fixed = {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.20.0"}]}]}
        affected = {"package": {"name": "requests", "ecosystem": "PyPI"}, **fixed}
        advisory = {"id": "PYSEC-2018-28", "summary": "x", "aliases": ["CVE-2018-18074"], "affected": [affected]}
        body = json.dumps({"vulns": [advisory]} if known else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Advisories)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/query"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.skipif(importlib.util.find_spec("pip_audit") is None, reason="pip-audit is not here")
@pytest.mark.parametrize(("version", "code"), [("2.0.0", 1), ("2.32.0", 0)])
def test_pip_audit_itself_finds_an_advisory_in_a_lock(tmp_path: Path, address: str, version: str, code: int) -> None:
    digest = hashlib.sha256(b"x").hexdigest()
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"numpy==2.3.1 --hash=sha256:{digest}\nrequests=={version} --hash=sha256:{digest}\n")
    found, words = audit.audit(lock, "--osv-url", address)
    assert (found, "requests 2.0.0: PYSEC-2018-28" in words) == (code, code == 1), words


@pytest.mark.skipif(importlib.util.find_spec("pip_audit") is None, reason="pip-audit is not here")
def test_advisories_that_cannot_be_reached_are_no_failure(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"numpy==2.3.1 --hash=sha256:{hashlib.sha256(b'x').hexdigest()}\n")
    code, words = audit.audit(lock, "--osv-url", "http://127.0.0.1:9/v1/query")
    assert (code, "not reachable: skipped" in words) == (0, True), words


def test_make_check_runs_it() -> None:
    check = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ncheck:")[1].split("\n\n")[0]
    assert "python -m tests.helpers.audit" in check
