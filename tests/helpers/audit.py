"""Known vulnerabilities of the locked packages: `python -m tests.helpers.audit`, a part of `make check`.

pip-audit asks osv.dev for advisories on every version in requirements.lock; the package index is not asked. Where it
cannot be reached, that is said and is no failure; a known vulnerability is one.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.helpers.stage_deps import ROOT

# Advisories that do not reach what elman does, each with the reason; empty is best.
ACCEPTED: dict[str, str] = {}

_COMMAND = ("-m", "pip_audit", "--disable-pip", "--vulnerability-service", "osv", "--progress-spinner", "off")
_COMMAND += ("--timeout", "15", "--format", "json")
_UNREACHABLE = ("Connection", "connect", "timed out", "Timeout", "Name or service not known", "Max retries", "Proxy")


def main() -> int:
    """Audits the lock; 1 where something is wrong."""
    code, words = audit(ROOT / "requirements.lock")
    print(words)  # noqa: T201
    return code


def audit(lock: Path, *options: str) -> tuple[int, str]:
    """Runs pip-audit on pinned requirements with hashes.

    Args:
        lock: The requirements.
        options: Further options of pip-audit.

    Returns:
        The exit code, and what to say.
    """
    command = [sys.executable, *_COMMAND, *options, "--requirement", str(lock)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return judge(done.stdout, done.stderr)


def judge(output: str, errors: str) -> tuple[int, str]:
    """What an audit found.

    Args:
        output: pip-audit's standard output: a JSON object, or nothing where it failed.
        errors: Its standard error.

    Returns:
        The exit code, and what to say.
    """
    try:
        packages: list[dict[str, Any]] = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = errors.strip().splitlines()[-1][:150] if errors.strip() else "pip-audit said nothing"
        if any(word in errors for word in _UNREACHABLE):
            return 0, f"dependency audit: advisories are not reachable: skipped ({last})"
        return 1, f"dependency audit: pip-audit failed: {last}"
    asked = [package for package in packages if "vulns" in package]
    if not asked:
        return 0, "dependency audit: advisories are not reachable: skipped (none of the packages is known there)"
    found = [
        f"{package['name']} {package['version']}: {one['id']}, mended in {', '.join(one['fix_versions']) or 'none'}"
        for package in asked
        for one in package["vulns"]
        if not {one["id"], *one.get("aliases", ())} & ACCEPTED.keys()
    ]
    if found:
        return 1, "\n".join(["dependency audit: known vulnerabilities; renew requirements.lock:", *found])
    return 0, f"dependency audit: {len(asked)} packages, no known vulnerability"


if __name__ == "__main__":
    sys.exit(main())
