"""What a run was made from, as hashes: two runs with equal hashes saw the same data, settings and code."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elman.artifacts import sha256_paths


def code_hash() -> str:
    """SHA-256 of this package's source files."""
    package = Path(__file__).resolve().parent.parent
    return sha256_paths(sorted(package.rglob("*.py")), root=package)


def params_hash(params: Mapping[str, Any]) -> str:
    """SHA-256 of settings as plain values, whatever their order."""
    return hashlib.sha256(json.dumps(params, sort_keys=True).encode()).hexdigest()


def provenance(*, data: list[Path], tokenizer: Path, params: Mapping[str, Any]) -> dict[str, str]:
    """Tags of a run: `hash.data`, `hash.tokenizer`, `hash.params`, `hash.code`, each shortened to 16 digits."""
    hashes = {
        "hash.data": sha256_paths(data, root=data[0].parent),
        "hash.tokenizer": sha256_paths([tokenizer], root=tokenizer),
        "hash.params": params_hash(params),
        "hash.code": code_hash(),
    }
    return {name: value[:16] for name, value in hashes.items()}
