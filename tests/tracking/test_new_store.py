"""A store that is being made when its process ends."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from elman.tracking.new_store import make_store


class Killed(BaseException):
    """Stands for the end of a process."""


def make(file: Path) -> None:
    with closing(sqlite3.connect(file)) as store, store:
        store.execute("create table runs (name text)")
        store.execute("insert into runs values ('first')")


def test_a_process_that_ends_while_tables_are_made_leaves_no_store_and_the_next_one_makes_it(tmp_path):
    file = tmp_path / "mlruns" / "mlflow.db"

    def make_half(path: Path) -> None:
        make(path)
        raise Killed

    with pytest.raises(Killed):
        make_store(file, make_half)
    assert not file.exists()
    make_store(file, make)
    with closing(sqlite3.connect(file)) as store:
        assert store.execute("select name from runs").fetchall() == [("first",)]
    assert sorted(path.name for path in file.parent.iterdir()) == [".new-store.lock", "mlflow.db"]


def test_a_store_that_is_there_is_left_as_it_is(tmp_path):
    file = tmp_path / "mlflow.db"
    make(file)
    before = file.read_bytes()
    make_store(file, lambda path: pytest.fail("made anew"))
    assert file.read_bytes() == before
