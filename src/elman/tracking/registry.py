"""Versions of a model in MLflow's registry, and which of them is the champion.

MLflow moves an alias without looking at where it stood, so that of two jobs the second would overwrite the first one's
choice. Here a move names the champion that it was decided against, is made under a lock of the checkout, and is read
back: whoever comes second, from whatever machine, is told.
"""

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from elman.errors import RegistryError
from elman.packages.package import open_package
from elman.tracking import store, version_files
from elman.tracking.entries import real_run_id
from elman.tracking.registry_runs import check_run, new_run
from elman.tracking.version import HASH_TAG, Version, registered_name

__all__ = ["CHAMPION", "PREVIOUS", "Registry", "Version", "registered_name"]

CHAMPION = "champion"
PREVIOUS = "previous"

_PAGE = 1000  # versions a request
_DESCRIPTION = """\
Models for {name}, each a package: `elman classify "models:/{name}@champion" "a text"`, or `elman score` for a \
language model. `champion` is in use; `previous` is what `elman rollback` brings back.
"""


class Registry:
    """The registered packages of one data set and task."""

    def __init__(self, client: Any, *, uri: str, root: Path, name: str) -> None:
        self.client = client
        self.name = name
        self._uri = uri
        self._root = root

    @classmethod
    def open(cls, root: Path, name: str) -> Self:
        """Opens the registry of the checkout's store (or `MLFLOW_TRACKING_URI`); the name is made where it is missing.

        Raises:
            TrackingError: The store cannot be reached, or refuses.
        """
        from mlflow.exceptions import MlflowException

        uri = store.store_uri(root)
        with store.opening(root):
            client = store.open_client(uri)
            with store.reported(uri):
                try:
                    client.create_registered_model(name, description=_DESCRIPTION.format(name=name))
                except MlflowException as error:
                    if error.error_code != "RESOURCE_ALREADY_EXISTS":
                        raise
        return cls(client, uri=uri, root=root, name=name)

    def add(self, package: Path, *, run_id: str | None, tags: Mapping[str, str]) -> int:
        """Registers a package as a new version that MLflow can serve; no alias moves.

        Args:
            package: Its folder.
            run_id: The run that it came from, which gets the files; None makes a run for it.
            tags: What the version is to carry.

        Returns:
            The version's number.

        Raises:
            RegistryError: The run failed, was killed, has not ended or is not there.
            ArtifactError: The package is refused.
        """
        opened = open_package(package)
        if run_id is None:
            run_id = new_run(self._root, experiment=self.name, package=opened)
        own = {HASH_TAG: opened.hash, "task": opened.task, "cell": opened.cell, "seed": str(opened.seed)}
        with store.reported(self._uri):
            run_id = real_run_id(self.client, run_id)
            check_run(self.client, run_id)
            source = version_files.upload(self.client, run_id, opened)
            made = self.client.create_model_version(self.name, source, run_id, tags={**tags, **own})
        return int(made.version)

    def version(self, alias_or_number: str | int) -> Version | None:
        """The version with this alias or number; None where there is none."""
        number = self._aliases().get(str(alias_or_number), alias_or_number)
        if not str(number).isdecimal():
            return None
        return next((version for version in self.versions() if version.number == int(number)), None)

    def versions(self) -> list[Version]:
        """All versions, the newest first."""
        aliases = self._aliases()
        return [Version.of(one, aliases) for one in self._search()]

    def fetch(self, alias_or_number: str | int, into: Path) -> Path:
        """Copies a version's package below `into` and checks it.

        Args:
            alias_or_number: "champion", "previous" or a number.
            into: A folder, made where it is missing.

        Returns:
            The package's folder, `version-<number>` in `into`; a sound copy that is there already is left.

        Raises:
            RegistryError: There is no such version, or its files are not those that were registered.
        """
        version = self._need(alias_or_number)
        folder = into / f"version-{version.number}"
        with store.reported(self._uri):
            source = self.client.get_model_version_download_uri(self.name, str(version.number))
            told = {"package_hash": version.package_hash, "name": f"{self.name} version {version.number}"}
            version_files.download(source, folder, uri=self._uri, **told)
        return folder

    def promote(self, number: int, *, expected: int | None) -> None:
        """Makes a version the champion, and the champion of before `previous`.

        A kill between the two steps leaves the old champion in place, under both names.

        Args:
            number: The version.
            expected: The champion that it was compared with; None where there was none.

        Raises:
            RegistryError: The champion is another one by now, the version is missing, damaged, or its run has failed.
                Nothing was moved then.
        """
        with self._alone():
            self._expect(self._aliases(), expected)
            with store.reported(self._uri):
                check_run(self.client, self._need(number).run_id)
            self._check_files(number)
            if number == expected:
                return
            if expected is not None:
                self._move(PREVIOUS, expected)
                self._expect(self._aliases(), expected)
            self._move(CHAMPION, number)
            self._expect(self._aliases(), number)

    def rollback(self) -> Version:
        """Makes `previous` the champion again; there is no `previous` afterwards.

        Raises:
            RegistryError: There is no other version under `previous`, or it is damaged. Nothing was moved then.
        """
        with self._alone():
            aliases = self._aliases()
            number = aliases.get(PREVIOUS)
            if number is None or number == aliases.get(CHAMPION):
                raise RegistryError(
                    f"{self.name}: there is no version before the champion to bring back; these are there: "
                    f"{', '.join(str(one.number) for one in self.versions()) or 'none'}"
                )
            self._check_files(number)
            self._move(CHAMPION, number)
            self._expect(self._aliases(), number)
            with store.reported(self._uri):
                self.client.delete_registered_model_alias(self.name, PREVIOUS)
            return self._need(number)

    def delete(self, number: int) -> None:
        """Deletes a version and its files.

        Raises:
            RegistryError: There is no such version, or it carries an alias.
        """
        with self._alone():
            version = self._need(number)
            if version.aliases:
                carried = " and ".join(version.aliases)
                raise RegistryError(f"{self.name} version {number}: is {carried}, which is never deleted")
            with store.reported(self._uri):
                sources = {int(one.version): one.source for one in self._search()}
                source = sources.pop(number)
                if source not in sources.values():  # the same package, registered twice, has its files once
                    version_files.remove(source, uri=self._uri)
                self.client.delete_model_version(self.name, str(number))

    def _check_files(self, number: int) -> None:
        """Raises RegistryError unless the version's package can be had and is sound."""
        with TemporaryDirectory() as temporary:
            self.fetch(number, Path(temporary))

    def _need(self, alias_or_number: str | int) -> Version:
        version = self.version(alias_or_number)
        if version is None:
            known = ", ".join(str(one.number) for one in self.versions()) or "none"
            raise RegistryError(f"{self.name}: no version {alias_or_number!r}; these are there: {known}")
        return version

    def _search(self) -> list[Any]:
        found: list[Any] = []
        query, token = f"name = '{self.name}'", None
        with store.reported(self._uri):
            while True:
                page = self.client.search_model_versions(query, _PAGE, ["version_number DESC"], token)
                found += page
                token = page.token
                if not token:
                    return found

    def _aliases(self) -> dict[str, int]:
        with store.reported(self._uri):
            found = self.client.get_registered_model(self.name).aliases
        return {alias: int(number) for alias, number in found.items()}

    def _move(self, alias: str, number: int) -> None:
        with store.reported(self._uri):
            self.client.set_registered_model_alias(self.name, alias, str(number))

    def _expect(self, aliases: Mapping[str, int], expected: int | None) -> None:
        if (found := aliases.get(CHAMPION)) != expected:
            raise RegistryError(
                f"{self.name}: the champion is {_words(found)}, and {_words(expected)} was expected: somebody else "
                "moved it meanwhile. Compare with it as it is now (`elman retrain`)"
            )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process of this checkout at a time."""
        folder = self._root.resolve() / store.FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".registry.lock").open("w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _words(number: int | None) -> str:
    return "none" if number is None else f"version {number}"
