"""Writes to runs; when the tracking store is away, keeps what was to be written and goes on."""

import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from elman.errors import TrackingError
from elman.tracking.entries import LOCAL_ID_TAG, Entry, create_run, local_id
from elman.tracking.replay import RefusedError, Replayed, Replayer, replayed_words
from elman.tracking.spool import Spool
from elman.tracking.spool_file import set_aside, with_copy_in
from elman.tracking.store import reported, shown

_FIRST_WAIT = 1.0  # seconds until the store is tried again; doubled each time
_LONGEST_WAIT = 60.0
_SHARE = 10.0  # at most a tenth of the time goes into trying


class Writer:
    """The way of all entries to one store.

    Args:
        client: The `MlflowClient`.
        uri: The store's address.
        spool: Where to keep what cannot be written; without one every trouble is an error.
    """

    def __init__(self, client: Any, uri: str, *, spool: Spool | None = None) -> None:
        self._client = client
        self._uri = uri
        self._spool = spool
        self._replayer = Replayer(client, uri)
        self._wait = _FIRST_WAIT
        self._next_try = 0.0
        self._told: set[Path] = set()

    @property
    def away(self) -> bool:
        """Whether the store was away a moment ago, so that asking it again is no use yet."""
        return time.monotonic() < self._next_try

    def name(self, run_id: str) -> str:
        """The store's name of a run, as far as it is known."""
        return self._replayer.name(run_id)

    def find(self, run_id: str) -> str | None:
        """The store's name of a run, which is asked where need be."""
        with reported(self._uri):
            return self._replayer.find(run_id)

    def write(self, run_id: str, entry: Entry) -> None:
        """Writes an entry, or keeps it until the store is back.

        Raises:
            TrackingError: The store is away or refuses, and there is no spool.
        """
        if self._spool is None:
            self._replayer.write(run_id, entry)
        elif not self._try(run_id, entry):
            self._spool.keep(run_id, entry)

    def create(self, entry: Entry, *, number: str, experiment_id: str) -> str:
        """Makes a run and returns its id: the store's, or one of our own while the store is away.

        Args:
            entry: Of the kind create.
            number: What no other run has.
            experiment_id: The store's number of the experiment that the entry names.
        """
        local = local_id(number)
        entry["tags"][LOCAL_ID_TAG] = local
        if self._spool is None:
            with reported(self._uri):
                return create_run(self._client, entry, experiment_id=experiment_id)
        if self._ready():
            started = time.monotonic()
            try:
                with reported(self._uri):
                    made = create_run(self._client, entry, experiment_id=experiment_id)
            except TrackingError as error:
                self.trouble(error, cost=time.monotonic() - started)
            else:
                self._wait = _FIRST_WAIT
                return made
        self._spool.keep(local, entry)
        return local

    def trouble(self, error: TrackingError, *, cost: float = 0.0) -> None:
        """Notes that the store is away, and says so once.

        Raises:
            TrackingError: There is no spool.
        """
        if self._spool is None:
            raise error
        if self._wait == _FIRST_WAIT:
            first = str(error).splitlines()[0][:300]
            self._say(f"warning: {first}: what is recorded is kept in {self._spool.folder} until the store is back")
        self._next_try = time.monotonic() + max(self._wait, _SHARE * cost)
        self._wait = min(2 * self._wait, _LONGEST_WAIT)

    def close(self, *, last_try: bool) -> None:
        """Ends the writing; what waits is left to a later job.

        Args:
            last_try: Whether the store is asked once more.
        """
        if self._spool is None:
            return
        if last_try and self._spool and self._next_try - time.monotonic() < _LONGEST_WAIT:
            self._catch_up()
        lost = len(self._spool.in_memory)
        self._spool.close()
        if lost and (lost := len(self._spool.in_memory)):
            self._say(
                f"warning: {lost} entries for {shown(self._uri)} are lost: {self._spool.folder} cannot be written"
            )

    def _try(self, run_id: str, entry: Entry) -> bool:
        """Whether the entry needs no keeping any more: it is written, or the store does not want it."""
        assert self._spool is not None
        if not self._ready():
            return False
        started = time.monotonic()
        try:
            self._replayer.write(run_id, entry)
        except RefusedError as error:
            aside = set_aside(self._spool.folder, run_id, entry, str(error))
            self._tell(Replayed(refused=(aside,)))
        except TrackingError as error:
            self.trouble(error, cost=time.monotonic() - started)
            return False
        self._wait = _FIRST_WAIT
        return True

    def _ready(self) -> bool:
        """Whether an entry may go to the store now: everything before it is there."""
        return not self.away and (not self._spool or self._catch_up())

    def _catch_up(self) -> bool:
        """Writes all that waits; whether nothing waits any more."""
        assert self._spool is not None
        self._spool.flush()
        started, done = time.monotonic(), Replayed()
        try:
            for run_id in list(self._spool.files):
                file = self._spool.files[run_id]
                part = self._replayer.write_out(file)
                done = Replayed(done.written + part.written, done.runs + part.runs, done.refused + part.refused)
                file.close()
                del self._spool.files[run_id]
            while self._spool.in_memory:  # the store is there, and the disk is full
                run_id, entry = self._spool.in_memory[0]
                with suppress(RefusedError):
                    self._replayer.write(run_id, with_copy_in(self._spool.folder, entry))
                self._spool.in_memory.pop(0)
        except TrackingError as error:
            self.trouble(error, cost=time.monotonic() - started)
            return False
        self._wait, self._next_try = _FIRST_WAIT, 0.0
        self._tell(done)
        return True

    def _tell(self, done: Replayed) -> None:
        new = tuple(path for path in done.refused if path not in self._told)
        self._told.update(new)
        for line in replayed_words(done._replace(refused=new)):
            self._say(line)

    @staticmethod
    def _say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)  # noqa: T201
