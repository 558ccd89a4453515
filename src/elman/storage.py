"""Trouble with disks, folders and permissions, told as what to do instead of as a traceback."""

import errno
from collections.abc import Iterator
from pathlib import Path

from elman.errors import StorageError

_ADVICE = {
    errno.ENOSPC: "the disk is full: free some of it (`df -h`), then run the same command again",
    errno.EDQUOT: "this user's share of the disk is used up: free some of it, then run the same command again",
    errno.EFBIG: "the file would be larger than this disk or `ulimit -f` allows",
    errno.EACCES: "this user may not do that: look at owner and rights (`ls -ld`), or run as the user who owns it",
    errno.EPERM: "this user may not do that: look at owner and rights (`ls -ld`, `lsattr`)",
    errno.EROFS: "the disk is mounted read-only: mount it for writing, or work in another folder",
    errno.EIO: "the disk reports an error: look at `dmesg`, and replace the disk or the cable before going on",
    errno.ENOTDIR: "a file stands where a folder is needed: remove or rename it",
    errno.EEXIST: "a file stands where a folder is needed: remove or rename it",
    errno.EISDIR: "a folder stands where a file is needed: remove or rename it",
    errno.EMFILE: "too many files are open: raise `ulimit -n`",
}


def storage_error(error: BaseException) -> StorageError | None:
    """The trouble of a disk or folder that an error comes from, with the file and what to do; None for another error.

    What stands behind it is looked at too: libraries wrap what the system told them.

    Example:
        >>> print(storage_error(OSError(errno.ENOSPC, "No space left on device", "models/model.keras")))
        models/model.keras: the disk is full: free some of it (`df -h`), then run the same command again
        >>> storage_error(FileNotFoundError(errno.ENOENT, "No such file or directory", "x"))
    """
    for cause in _chain(error):
        number = cause.errno if isinstance(cause, OSError) else None
        if number in _ADVICE:
            where = getattr(cause, "filename", None)
            return StorageError(f"{where}: {_ADVICE[number]}" if where else f"{cause}: {_ADVICE[number]}")
    return None


def can_exist(path: Path) -> bool:
    """Whether the system takes the path at all: a whole text in the place of a name is too long for it."""
    try:
        path.exists()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return False
    return True


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
