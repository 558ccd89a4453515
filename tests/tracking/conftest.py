"""One store for the tests of a file: making its tables takes seconds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from elman.tracking.tracker import Tracker


@pytest.fixture(scope="session", autouse=True)
def _own_store_only() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        yield


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("checkout")


@pytest.fixture
def tracker(root: Path, request: pytest.FixtureRequest) -> Iterator[Tracker]:
    with Tracker.open(root=root, experiment=f"reuters-r8 {request.node.name}") as opened:
        yield opened
