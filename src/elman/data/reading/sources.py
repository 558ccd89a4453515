"""Which files `dataset.path` means: their formats, and the splits that their names give."""

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from elman.data.catalog import DATASETS
from elman.data.reading.rows import split_name
from elman.errors import DataError

FORMATS_BY_SUFFIX = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".txt": "lines",
}
_SPLITS = ("train", "valid", "test")
_NOT_DATA = re.compile(r"^(readme|license|licence|copying|changelog)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Source:
    """One file, or one folder of a class, that is read.

    Attributes:
        name: Its path relative to `dataset.path`.
        format: csv, tsv, jsonl, parquet, lines, blocks or folders.
        split: The split that its name or the setting gives; None where documents are split by their hash.
        label: The class of a folder.
    """

    path: Path
    name: str
    format: str
    split: str | None = None
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class Sources:
    """All that is read, in a fixed order, and the files of the folder that are not."""

    read: tuple[Source, ...]
    ignored: tuple[str, ...] = ()

    @property
    def own_splits(self) -> frozenset[str]:
        """The splits that the data gives by its files."""
        return frozenset(source.split for source in self.read if source.split is not None)


def find_sources(
    path: Path,
    *,
    format: str = "auto",
    splits: dict[str, str] | None = None,
    by_name: bool = True,
) -> Sources:
    """Finds what is to be read below `path`.

    Args:
        path: A file or a folder.
        format: A format for all files, or auto: each by its suffix, a folder of folders as classes.
        splits: File or folder names inside `path`, keyed by train, valid and test.
        by_name: Whether names such as train.csv or a folder test/ give the split.

    Raises:
        DataError: Something is missing, is of no known format, or only some of the names give a split.
    """
    if not path.exists():
        raise _no_such_path(path)
    if splits:
        units = {split: _named(path, name, setting=split) for split, name in splits.items()}
        return _collect(units, path, format=format, ignored=())
    if path.is_file():
        return Sources(read=(_file(path, path.name, format=format),))
    entries = [entry for entry in sorted(path.iterdir()) if not entry.name.startswith(".")]
    named = {entry: split for entry in entries if (split := _split_of(entry))} if by_name else {}
    if not named:
        return _unsplit(path, format=format)
    others = [entry.name for entry in entries if entry not in named]
    unclear = [name for name in others if _is_data(path / name, format=format)]
    if unclear:
        raise DataError(
            f"{path}: {', '.join(sorted(entry.name for entry in named))} say by their names which split they are, "
            f"{', '.join(unclear)} not; name the files in dataset.train, dataset.valid and dataset.test"
        )
    found = [(split, entry) for split in _SPLITS for entry, of in named.items() if of == split]
    read = [source for split, entry in found for source in _unit(entry, root=path, format=format, split=split)]
    return Sources(read=tuple(read), ignored=tuple(others))


def _collect(units: dict[str, Path], root: Path, *, format: str, ignored: tuple[str, ...]) -> Sources:
    read = [source for split in units for source in _unit(units[split], root=root, format=format, split=split)]
    return Sources(read=tuple(read), ignored=ignored)


def _unsplit(path: Path, *, format: str) -> Sources:
    """A folder whose names say nothing about splits."""
    read = _unit(path, root=path, format=format, split=None)
    used = {source.path for source in read}
    ignored = [entry.name for entry in sorted(path.iterdir()) if entry not in used]
    return Sources(read=tuple(read), ignored=tuple(ignored))


def _unit(entry: Path, *, root: Path, format: str, split: str | None) -> list[Source]:
    """The sources of one file or folder."""
    name = entry.relative_to(root).as_posix() if entry != root else ""
    if entry.is_file():
        if format == "folders":
            raise DataError(f"{entry}: dataset.format is folders, but this is a file")
        return [_file(entry, name, format=format, split=split)]
    children = [child for child in sorted(entry.iterdir()) if not child.name.startswith(".")]
    files = [] if format == "folders" else [child for child in children if _is_data_file(child, format=format)]
    prefix = f"{name}/" if name else ""
    if files:
        return [_file(file, f"{prefix}{file.name}", format=format, split=split) for file in files]
    folders = [child for child in children if child.is_dir()]
    if format not in ("auto", "folders") or not folders:
        wanted = "a folder for each class" if format == "folders" else f"files of {_suffixes()}"
        raise DataError(f"{entry}: nothing to read; expected {wanted}, found {[c.name for c in children][:10]}")
    return [
        Source(path=child, name=f"{prefix}{child.name}", format="folders", split=split, label=child.name)
        for child in folders
    ]


def _file(path: Path, name: str, *, format: str, split: str | None = None) -> Source:
    known = _format_of(path) if format == "auto" else format
    if known is None:
        raise DataError(
            f"{path}: the suffix does not tell the format; known are {_suffixes()}, each also with .gz. "
            "Set dataset.format in params.yaml"
        )
    return Source(path=path, name=name, format=known, split=split)


def _format_of(path: Path) -> str | None:
    name = path.name.removesuffix(".gz")
    return FORMATS_BY_SUFFIX.get(Path(name).suffix.lower())


def _is_data_file(path: Path, *, format: str) -> bool:
    if not path.is_file() or _NOT_DATA.match(path.name):
        return False
    return format != "auto" or _format_of(path) is not None


def _is_data(path: Path, *, format: str) -> bool:
    return _is_data_file(path, format=format) or (path.is_dir() and format in ("auto", "folders"))


def _split_of(path: Path) -> str | None:
    """The split in a name's words: `train.csv`, `ptb.valid.txt`, `reviews-test`; None for none or several."""
    found = {split for word in re.split(r"[._\-]+", path.name) if (split := split_name(word))}
    return found.pop() if len(found) == 1 else None


def _named(root: Path, name: str, *, setting: str) -> Path:
    path = root / name
    if not root.is_dir():
        raise DataError(f"{root}: dataset.{setting} names a file inside dataset.path, which is not a folder")
    if not path.exists():
        near = difflib.get_close_matches(name, [entry.name for entry in root.iterdir()], n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise DataError(f"{path}: no such file or folder{hint} Set dataset.{setting} in params.yaml")
    return path


def _no_such_path(path: Path) -> DataError:
    if path.name in DATASETS:
        return DataError(f"{path}: not fetched yet; run `dvc repro`, which fetches it first")
    names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.4)
    hint = f"; did you mean {path.parent / near[0]}?" if near else ""
    return DataError(f"{path}: no such file or folder{hint} Set dataset.path in params.yaml")


def _suffixes() -> str:
    return " ".join(FORMATS_BY_SUFFIX)
