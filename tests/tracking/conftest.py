"""One store for the tests of a file. Making its tables takes seconds, so that each is a copy of an empty one."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from elman.tracking.store import open_client
from elman.tracking.tracker import Tracker


@pytest.fixture(scope="session", autouse=True)
def _own_store_only() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        yield


@pytest.fixture(scope="session")
def with_store(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Puts an empty store into a folder."""
    empty = tmp_path_factory.mktemp("empty") / "mlflow.db"
    open_client(f"sqlite:///{empty}")

    def put(folder: Path) -> Path:
        (folder / "mlruns").mkdir(parents=True)
        shutil.copyfile(empty, folder / "mlruns" / "mlflow.db")
        return folder

    return put


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, with_store: Callable[[Path], Path]) -> Path:
    return with_store(tmp_path_factory.mktemp("checkout"))


@pytest.fixture
def tracker(root: Path, request: pytest.FixtureRequest) -> Iterator[Tracker]:
    with Tracker.open(root=root, experiment=f"reuters-r8 {request.node.name}") as opened:
        yield opened
