import math
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from elman.artifacts import (
    TableWriter,
    read_batches,
    read_json,
    read_table,
    replacing,
    scratch_folder,
    sha256_paths,
    write_json,
)
from elman.errors import ArtifactError

SCHEMA = pa.schema([("n", pa.int64())])


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


KILLED = """
import os, signal, sys
from pathlib import Path
from elman.artifacts import replacing, scratch_folder

path = Path(sys.argv[1])
with scratch_folder(path / "prepare") as folder, replacing(path / "a.txt") as temporary:
    (folder / "part.txt").write_text("half")
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_goes_with_the_next_one_and_what_is_in_use_stays(tmp_path):
    assert subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False).returncode == -signal.SIGKILL
    assert len(list(tmp_path.rglob("*"))) == 3
    with scratch_folder(tmp_path / "prepare") as used:
        (used / "part.txt").write_text("half")
        with scratch_folder(tmp_path / "prepare") as other, replacing(tmp_path / "a.txt") as temporary:
            temporary.write_text("whole")
            assert other != used
            assert (used / "part.txt").read_text() == "half"
            assert len(list(tmp_path.iterdir())) == 3
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_json_with_a_number_that_is_not_finite_is_never_written(tmp_path, bad):
    with pytest.raises(ArtifactError, match="not finite"):
        write_json(tmp_path / "m.json", {"loss": bad})
    assert list(tmp_path.iterdir()) == []


def test_json_with_nan_is_not_read(tmp_path):
    (tmp_path / "m.json").write_text('{"loss": NaN}')
    with pytest.raises(ArtifactError, match="NaN is not JSON"):
        read_json(tmp_path / "m.json")


def test_a_missing_file_names_itself_and_the_command(tmp_path):
    for read in (read_json, read_table):
        with pytest.raises(ArtifactError, match=r"gone.*dvc repro"):
            read(tmp_path / "gone")


def test_a_table_written_in_parts_is_read_whole(tmp_path):
    with TableWriter(tmp_path / "t.parquet", SCHEMA) as writer:
        writer.write({"n": [1, 2]})
        writer.write({"n": [3]})
    assert read_table(tmp_path / "t.parquet")["n"].to_pylist() == [1, 2, 3]
    assert [batch.num_rows for batch in read_batches(tmp_path / "t.parquet", batch_rows=2)] == [2, 1]


def test_streaming_a_table_holds_one_part_of_it_at_a_time(tmp_path):
    # Over several row groups, pyarrow's reader keeps the compressed bytes of each to the end: 1 GB of text, 400 MB.
    size = 100_000  # 0.8 MB a row group, too random to compress
    with TableWriter(tmp_path / "t.parquet", SCHEMA) as writer:
        for seed in range(20):
            writer.write({"n": np.random.default_rng(seed).integers(0, 2**62, size)})
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in read_batches(tmp_path / "t.parquet", batch_rows=10_000)]
    assert len(held) == 200
    assert max(held) < 5 * size * 8


def test_a_table_whose_writer_failed_does_not_exist(tmp_path):
    with pytest.raises(RuntimeError), TableWriter(tmp_path / "t.parquet", SCHEMA) as writer:
        writer.write({"n": [1]})
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_damaged_parquet_is_a_clear_error(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(ArtifactError, match="damaged Parquet"):
        read_table(tmp_path / "t.parquet")
    with pytest.raises(ArtifactError, match="damaged Parquet"):
        list(read_batches(tmp_path / "t.parquet"))


def test_a_hash_of_a_folder_sees_names_and_contents(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a").write_text("1")
    first = sha256_paths([tmp_path / "d"], root=tmp_path)
    (tmp_path / "d" / "a").rename(tmp_path / "d" / "b")
    renamed = sha256_paths([tmp_path / "d"], root=tmp_path)
    (tmp_path / "d" / "b").write_text("2")
    assert len({first, renamed, sha256_paths([tmp_path / "d"], root=tmp_path)}) == 3
