"""Full disks, read-only places and missing permissions end a stage with one clear line and exit code 36."""

import errno
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from elman import cli
from elman.artifacts import TableWriter, write_json, write_text
from elman.stages import run_stage
from elman.storage import storage_error


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary files of stages lead to /dev/full, where every write fails as on a full disk."""

    def make(*, prefix: str, suffix: str, dir: Path) -> tuple[int, str]:
        name = Path(dir) / f"{prefix}full{suffix}"
        name.symlink_to("/dev/full")
        return os.open(dir, os.O_RDONLY), str(name)

    monkeypatch.setattr(tempfile, "mkstemp", make)


def write_table(path: Path) -> None:
    with TableWriter(path, pa.schema([("n", pa.int64())])) as writer:
        writer.write({"n": list(range(100_000))})


def failed(main: Callable[[], Any], capsys: pytest.CaptureFixture[str]) -> str:
    """What a stage prints that must end with exit code 36."""
    with pytest.raises(SystemExit) as caught:
        run_stage("encode", main)
    assert caught.value.code == 36
    printed = capsys.readouterr().err
    assert printed.endswith("stage encode failed (StorageError)\n")
    assert "Traceback" not in printed
    return printed


@pytest.mark.parametrize("write", [lambda path: write_text(path, "x" * 10_000), write_table])
def test_a_full_disk_names_the_file_and_leaves_the_old_one_and_no_part(
    tmp_path: Path, full_disk: None, capsys: pytest.CaptureFixture[str], write: Callable[[Path], None]
) -> None:
    path = tmp_path / "train.parquet"
    path.write_text("old")
    printed = failed(lambda: write(path), capsys)
    assert f"{path}: the disk is full: free some of it" in printed
    assert [file.name for file in tmp_path.iterdir()] == ["train.parquet"]
    assert path.read_text() == "old"


def test_a_file_larger_than_allowed_names_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        printed = failed(lambda: write_json(tmp_path / "metrics.json", ["x" * 100] * 100), capsys)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert f"{tmp_path / 'metrics.json'}: the file would be larger" in printed
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_a_folder_is_needed_names_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "models").write_text("a file")
    for path in (tmp_path / "models" / "a.json", tmp_path / "models" / "gru" / "a.json"):
        printed = failed(lambda path=path: write_json(path, {}), capsys)
        assert f"{tmp_path / 'models'}" in printed
        assert "a file stands where a folder is needed" in printed


_AS_NOBODY = """
import os, sys
from pathlib import Path
from elman.artifacts import write_json
from elman.stages import run_stage
os.setgid(65534); os.setuid(65534)
run_stage("prepare", lambda: write_json(Path(sys.argv[1]) / "summary.json", {}))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user; the folder binds everybody else")
def test_a_folder_that_the_user_may_not_write_names_itself(tmp_path: Path) -> None:
    folder = tmp_path / "prepared"
    folder.mkdir(mode=0o755)
    for parent in (tmp_path, *tmp_path.parents[:2]):
        parent.chmod(0o755)
    done = subprocess.run([sys.executable, "-c", _AS_NOBODY, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 36
    assert str(folder) in done.stderr
    assert "this user may not do that" in done.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("number", [errno.EROFS, errno.EDQUOT, errno.EIO, errno.EPERM, errno.EISDIR, errno.EMFILE])
def test_what_stands_behind_a_librarys_own_error_is_told(number: int) -> None:
    try:
        try:
            raise OSError(number, os.strerror(number), "/srv/models/model.keras")
        except OSError as error:
            raise RuntimeError("cannot save") from error
    except RuntimeError as error:
        found = storage_error(error)
    assert found is not None
    assert str(found).startswith("/srv/models/model.keras: ")


def test_other_errors_keep_their_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise FileNotFoundError(errno.ENOENT, "no such file", "x")

    with pytest.raises(FileNotFoundError):
        run_stage("encode", main)
    assert capsys.readouterr().err == "stage encode failed\n"


def test_a_command_ends_in_the_same_way(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def app() -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "presets/a.yaml")

    monkeypatch.setattr(cli, "app", app)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 36
    assert capsys.readouterr().err.startswith("error: presets/a.yaml: the disk is full")
