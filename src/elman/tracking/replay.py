"""Writes to the tracking store what was kept while it was away: in order, each entry once."""

from pathlib import Path
from typing import Any, NamedTuple

from elman.errors import TrackingError
from elman.tracking.entries import Entry, create_run, find_run, is_local, write_entry
from elman.tracking.spool import Spool
from elman.tracking.spool_file import SpoolFile, left_behind
from elman.tracking.store import reported

_PARENT = "mlflow.parentRunId"
# What MLflow answers where it is there and does not want an entry: sending it again would never end.
_REFUSALS = ("INVALID_PARAMETER_VALUE", "RESOURCE_DOES_NOT_EXIST", "RESOURCE_ALREADY_EXISTS", "INVALID_STATE")


class RefusedError(TrackingError):
    """The store is there and does not take an entry."""


class Replayed(NamedTuple):
    """What came of the kept entries.

    Attributes:
        written: How many stand in the store now.
        runs: Of how many runs.
        refused: Files with what the store did not take.
    """

    written: int = 0
    runs: int = 0
    refused: tuple[Path, ...] = ()


class Replayer:
    """Writes entries to one store, and knows what the runs are called there that were begun without it.

    Args:
        client: The `MlflowClient`.
        uri: The store's address, for messages.
    """

    def __init__(self, client: Any, uri: str) -> None:
        self._client = client
        self._uri = uri
        self._names: dict[str, str] = {}

    def write(self, run_id: str, entry: Entry) -> None:
        """Writes one entry.

        Raises:
            RefusedError: The store does not take it.
            TrackingError: The store is away.
        """
        try:
            with reported(self._uri):
                if entry["kind"] == "create":
                    self._create(run_id, entry)
                    return
                found = self.find(run_id)
                if found is None:
                    raise RefusedError(f"the store has no run {run_id}")
                write_entry(self._client, found, self._with_real_parent(entry))
        except TrackingError as error:
            if is_refusal(error):
                raise RefusedError(str(error)) from error
            raise

    def write_out(self, file: SpoolFile) -> Replayed:
        """Writes all of a file; what the store refuses is set aside, so that the rest does not wait for it.

        Raises:
            TrackingError: The store is away; what is not written stays in the file.
        """
        written, refused = 0, set()
        while len(file):
            try:
                self.write(file.run_id, file.first())
            except RefusedError as error:
                refused.add(file.refuse(str(error)))
            else:
                file.written()
                written += 1
        return Replayed(written, int(written > 0), tuple(sorted(refused)))

    def name(self, run_id: str) -> str:
        """The store's name of a run, as far as it is known here."""
        return self._names.get(run_id, run_id)

    def find(self, run_id: str) -> str | None:
        """The store's name of a run; of one that was begun without the store it is asked, and may know none."""
        if is_local(run_id) and run_id not in self._names:
            found = find_run(self._client, run_id)
            if found is None:
                return None
            self._names[run_id] = found
        return self.name(run_id)

    def _create(self, run_id: str, entry: Entry) -> None:
        if self.find(run_id) is not None:  # made before, and whoever made it was not told
            return
        experiment = self._client.get_experiment_by_name(entry["experiment"])
        if experiment is None:
            raise RefusedError(f"the store has no experiment {entry['experiment']!r}")
        made = create_run(self._client, self._with_real_parent(entry), experiment_id=experiment.experiment_id)
        self._names[run_id] = made

    def _with_real_parent(self, entry: Entry) -> Entry:
        parent = entry.get("tags", {}).get(_PARENT)
        if parent is None or not is_local(parent):
            return entry
        return {**entry, "tags": {**entry["tags"], _PARENT: self.find(parent) or parent}}


def is_refusal(error: TrackingError) -> bool:
    """Whether the store answered and will answer the same again."""
    cause = error.__cause__
    return (
        isinstance(error, RefusedError)
        or isinstance(cause, FileNotFoundError)  # an artifact that could not be copied and is gone
        or getattr(cause, "error_code", None) in _REFUSALS
    )


def replay_left(client: Any, uri: str, spool: Spool) -> Replayed:
    """Writes out what earlier processes left behind for this store.

    Raises:
        TrackingError: The store is away; what is not written stays.
    """
    replayer, total = Replayer(client, uri), Replayed()
    files = list(left_behind(spool.folder))
    try:
        for file in files:
            if file.store == spool.store:
                done = replayer.write_out(file)
                total = Replayed(total.written + done.written, total.runs + done.runs, total.refused + done.refused)
    finally:
        for file in files:
            file.close()
    return total


def replayed_words(done: Replayed) -> list[str]:
    """What a person is told of it, a line each."""
    words = []
    if done.written:
        words.append(f"the tracking store is back: {done.written} kept entries of {done.runs} runs are written")
    words += [
        f"warning: the tracking store does not take what stands, with reasons, in {path}" for path in done.refused
    ]
    return words
