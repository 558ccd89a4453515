"""What a DVC that is killed while it writes leaves behind; cut off at each possible place."""

import fcntl
import json
from pathlib import Path

import pytest
from dvc.schema import COMPILED_LOCKFILE_SCHEMA
from dvc.utils.serialize import parse_yaml

from elman.dvc_files import mend_dvc_files

LOCK = """schema: '2.0'
stages:
  prepare:
    cmd: python pipelines/prepare.py
    deps:
    - path: reviews.csv
      hash: md5
      md5: 0b5ea1f0c2a4a2b3bb9a2e8a4e2f2a11
      size: 911
    params:
      params.yaml:
        dataset.path: reviews.csv
        experiment.seeds: [1, 2]
    outs:
    - path: data/prepared
      hash: md5
      md5: 5d41402abc4b2a76b9719d911017c592.dir
      size: 1204
      nfiles: 4
  encode:
    cmd: python pipelines/encode.py
    deps:
    - path: data/prepared
      hash: md5
      md5: 5d41402abc4b2a76b9719d911017c592.dir
"""
USES = json.dumps(
    {"write": {"/a/models": {"pid": 7, "cmd": "dvc repro"}}, "read": {"/a/data": [{"pid": 7, "cmd": "x"}]}}
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".dvc" / "tmp").mkdir(parents=True)
    (tmp_path / "data").mkdir()
    return tmp_path


def dvc_reads(text: str) -> bool:
    try:
        COMPILED_LOCKFILE_SCHEMA(parse_yaml(text, "dvc.lock"))
    except Exception:
        return False
    return True


@pytest.mark.parametrize("name", ["dvc.lock", "data/dvc.lock"])
def test_of_what_has_run_dvc_can_read_what_stays_wherever_the_file_was_cut_off(root, name):
    file, broken = root / name, root / f"{name}.broken"
    mended = 0
    ends = [number + 1 for number, letter in enumerate(LOCK) if letter == "\n"]
    for length in sorted({*range(0, len(LOCK), 5), *ends}):
        file.write_text(LOCK[:length])
        lines = mend_dvc_files(root)
        assert file.exists() != bool(lines)
        if lines:
            mended += 1
            assert broken.read_text() == LOCK[:length]
            assert lines == [
                f"{name}: half written by a DVC that was killed; kept as dvc.lock.broken, its stages run again"
            ]
        else:
            assert dvc_reads(LOCK[:length]), LOCK[:length]
    assert mended > 100
    assert file.read_text() == LOCK, "a whole one stays as it is"


def test_a_list_of_users_that_was_cut_off_is_removed_and_a_whole_one_stays(root):
    file = root / ".dvc" / "tmp" / "rwlock"
    for length in range(len(USES)):
        file.write_text(USES[:length])
        assert len(mend_dvc_files(root)) == 1
        assert not file.exists()
    file.write_text(USES)
    assert mend_dvc_files(root) == []
    assert file.read_text() == USES


def test_nothing_is_touched_while_another_dvc_is_at_work(root):
    (root / ".dvc" / "tmp" / "rwlock").write_text(USES[:9])
    with (root / ".dvc" / "tmp" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert mend_dvc_files(root) == []
    assert len(mend_dvc_files(root)) == 1


def test_a_checkout_that_dvc_has_never_worked_in_is_left_alone(tmp_path):
    assert mend_dvc_files(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
