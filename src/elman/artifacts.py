"""Files that stages write: whole or not at all, strict, and told apart by their hash."""

import csv
import fcntl
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from elman.errors import ArtifactError, ElmanError
from elman.storage import storage_error

_CHUNK = 1 << 20  # bytes read at a time when hashing


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a temporary path beside `path`; it becomes `path` only when the block ends well.

    A reader sees the old file or the new one, never a part; after an error the temporary file is gone. One that a
    killed process has left is removed by the next one that writes the same file. An error of the system, such as a full
    disk, names `path`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_left_over(path, path.suffix)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=path.suffix, dir=path.parent)
    temporary = Path(name)
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # free again when this process ends in whatever way
    try:
        with naming(path):
            yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp gives 0600, which a colleague or a server could not read
        temporary.replace(path)
    finally:
        os.close(descriptor)
        temporary.unlink(missing_ok=True)


def _remove_left_over(path: Path, suffix: str) -> None:
    """Deletes temporary files and folders of `path` whose process is gone."""
    named = re.compile(
        rf"\.{re.escape(path.name.removesuffix(suffix))}\.\w{{8}}{re.escape(suffix)}"
    )  # as tempfile names
    for found in [entry for entry in path.parent.iterdir() if named.fullmatch(entry.name)]:
        with suppress(OSError):
            descriptor = os.open(found, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while its process works
                if found.is_dir():
                    shutil.rmtree(found)
                else:
                    found.unlink()
            finally:
                os.close(descriptor)


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """Gives an empty folder beside `path`, with a name made of its own, that is gone after the block.

    One that a killed process has left is removed by the next one that names the same path.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_left_over(path, "")
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # free again when this process ends in whatever way
    try:
        yield folder
    finally:
        os.close(descriptor)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Gives an empty folder beside `path`; it becomes `path` only when the block ends well, and is gone otherwise.

    Raises:
        ArtifactError: `path` is there already.
    """
    if path.exists() or path.is_symlink():
        raise ArtifactError(f"{path}: is there already; name another folder, or delete it")
    with scratch_folder(path) as folder:
        yield folder
        umask = os.umask(0)
        os.umask(umask)
        folder.chmod(0o777 & ~umask)  # mkdtemp gives 0700
        folder.rename(path)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Names the file in an error of the system that has no name: "No space left on device" alone helps nobody."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def write_text(path: Path, text: str) -> None:
    """Writes `text` as UTF-8, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Writes a table as CSV with a header, whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_text(path, text.getvalue())


def write_json(path: Path, value: Any) -> None:
    """Writes strict JSON (sorted by insertion, indented), whole or not at all.

    Raises:
        ArtifactError: `value` holds NaN or an infinity; JSON has neither, and readers of metrics files break on them.
    """
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ArtifactError(f"{path}: {error}; write null and a flag instead of a number that is not finite") from None
    write_text(path, text + "\n")


def read_json(path: Path) -> Any:
    """Reads strict JSON.

    Raises:
        ArtifactError: The file is missing or is not strict JSON.
    """

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    except FileNotFoundError:
        raise ArtifactError(f"{path}: no such file; run `dvc repro` to make it") from None
    except ValueError as error:
        raise ArtifactError(f"{path}: not strict JSON ({error}); delete it and run `dvc repro` again") from None


class TableWriter:
    """Writes a Parquet table batch by batch; the file appears only when the block ends well.

    Example:
        >>> import pyarrow as pa, tempfile
        >>> path = Path(tempfile.mkdtemp()) / "t.parquet"
        >>> with TableWriter(path, pa.schema([("n", pa.int64())])) as writer:
        ...     writer.write({"n": [1, 2]})
        >>> pq.read_table(path)["n"].to_pylist()
        [1, 2]
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        self._schema = schema
        self._stack = ExitStack()
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            temporary = stack.enter_context(replacing(self._path))
            self._writer = pq.ParquetWriter(temporary, self._schema, compression="zstd")
            stack.callback(self._writer.close)  # before the file gets its name, and inside what names it in an error
            self._stack = stack.pop_all()
        return self

    def write(self, columns: dict[str, Any]) -> None:
        """Appends rows, given as one sequence a column."""
        assert self._writer is not None, "TableWriter is used in a with block"
        self._writer.write_batch(pa.RecordBatch.from_pydict(columns, schema=self._schema))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, traceback)


def read_table(path: Path, *, columns: list[str] | None = None) -> pa.Table:
    """Reads a Parquet table into memory.

    Raises:
        ArtifactError: The file is missing, damaged, or lacks a column.
        StorageError: The file may not be read.
    """
    try:
        table = pq.read_table(path, columns=columns)
    except FileNotFoundError:
        raise ArtifactError(f"{path}: no such file; run `dvc repro` to make it") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise _unreadable(path, error) from None
    missing = set(columns or ()) - set(table.column_names)
    if missing:
        raise ArtifactError(f"{path}: lacks the columns {sorted(missing)}; it was written by another version")
    return table


def read_batches(path: Path, *, columns: list[str] | None = None, batch_rows: int = 1024) -> Iterator[pa.RecordBatch]:
    """Streams a Parquet table; memory holds about one batch.

    Raises:
        ArtifactError: The file is missing or damaged.
        StorageError: The file may not be read.
    """
    try:
        with pq.ParquetFile(path) as file:
            # One row group at a time: over several, the reader keeps what it has read of each, compressed, to the end.
            for group in range(file.num_row_groups):
                yield from file.iter_batches(batch_size=batch_rows, row_groups=[group], columns=columns)
    except FileNotFoundError:
        raise ArtifactError(f"{path}: no such file; run `dvc repro` to make it") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> ElmanError:
    return storage_error(error) or ArtifactError(
        f"{path}: damaged Parquet ({error}); delete it and run `dvc repro` again"
    )


def sha256_file(path: Path) -> str:
    """The file's SHA-256 as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def sha256_paths(paths: list[Path], *, root: Path) -> str:
    """One SHA-256 over files and folders: their names relative to `root` and their contents, in sorted order."""
    digest = hashlib.sha256()
    files = sorted(file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file())
    for file in files:
        digest.update(f"{file.relative_to(root).as_posix()}\0{sha256_file(file)}\n".encode())
    return digest.hexdigest()
