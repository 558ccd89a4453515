import gc
import sys
from collections.abc import Iterator

import pytest

from elman import stages


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """As if TensorFlow had not been loaded yet; what was frozen can be collected again afterwards."""
    monkeypatch.delitem(sys.modules, "keras", raising=False)
    yield monkeypatch
    gc.unfreeze()


def test_no_garbage_is_looked_for_while_tensorflow_is_loaded_nor_in_what_it_made_afterwards(unloaded):
    seen = []
    unloaded.setattr(stages.importlib, "import_module", lambda name: seen.append((name, gc.isenabled())))
    stages.load_tensorflow()
    assert seen == [("keras", False)]
    assert gc.isenabled()
    assert gc.get_freeze_count() > 1_000


def test_the_collector_works_again_where_tensorflow_cannot_be_loaded(unloaded):
    def broken(name: str) -> None:
        raise ImportError(name)

    unloaded.setattr(stages.importlib, "import_module", broken)
    with pytest.raises(ImportError, match="keras"):
        stages.load_tensorflow()
    assert gc.isenabled()


def test_what_a_process_made_after_tensorflow_was_loaded_is_never_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", object())
    before = gc.get_freeze_count()
    stages.load_tensorflow()
    assert gc.get_freeze_count() == before
