"""Which versions a package was written with, and which are here."""

import platform
from collections.abc import Mapping
from importlib import metadata

from elman import __version__

_LIBRARIES = ("keras", "tensorflow", "sentencepiece")


def versions_here() -> dict[str, str]:
    """Versions of elman, of the libraries that compute, and of Python; none of them is imported for it."""
    return {
        "elman": __version__,
        **{name: metadata.version(name) for name in _LIBRARIES},
        "python": platform.python_version(),
    }


def differing_versions(written: Mapping[str, str]) -> str:
    """A sentence on the versions that are not those of here."""
    here = versions_here()
    other = [f"{name} {old} (here {here.get(name, 'none')})" for name, old in written.items() if here.get(name) != old]
    return f"It was written with {', '.join(other)}." if other else "The versions are those that it was written with."
