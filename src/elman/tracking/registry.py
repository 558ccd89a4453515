"""Versions of a model in MLflow's registry, and which of them is the champion."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

CHAMPION = "champion"
PREVIOUS = "previous"


def registered_name(dataset: str, task: str) -> str:
    """What the registry calls the models of a data set and task.

    Example:
        >>> registered_name("reuters-r8", "language_model")
        'reuters-r8 language model'
    """
    raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Version:
    """A registered package.

    Attributes:
        number: Counts from 1.
        run_id: The run that the package came from.
        tags: As given to `Registry.add`.
        created: When, in UTC.
        package_hash: `Package.hash`.
        aliases: Those of champion and previous that it carries.
    """

    number: int
    run_id: str
    tags: Mapping[str, str]
    created: datetime
    package_hash: str
    aliases: tuple[str, ...] = ()


class Registry:
    """The registered packages of one data set and task."""

    @classmethod
    def open(cls, root: Path, name: str) -> Self:
        """Opens the registry of the checkout's store (or `MLFLOW_TRACKING_URI`); the name is made where it is missing.

        Raises:
            RegistryError: The store cannot be reached, or refuses.
        """
        raise NotImplementedError

    def add(self, package: Path, *, run_id: str | None, tags: Mapping[str, str]) -> int:
        """Registers a package as a new version that MLflow can serve; returns its number. No alias moves."""
        raise NotImplementedError

    def version(self, alias_or_number: str | int) -> Version | None:
        """The version with this alias or number; None where there is none."""
        raise NotImplementedError

    def versions(self) -> list[Version]:
        """All versions, the newest first."""
        raise NotImplementedError

    def fetch(self, alias_or_number: str | int, into: Path) -> Path:
        """Copies a version's package below `into` and checks it; returns the package's folder."""
        raise NotImplementedError

    def promote(self, number: int, *, expected: int | None) -> None:
        """Makes a version the champion, and the champion of before `previous`."""
        raise NotImplementedError

    def rollback(self) -> Version:
        """Makes `previous` the champion again; returns it."""
        raise NotImplementedError

    def delete(self, number: int) -> None:
        """Deletes a version and its files; never one with an alias."""
        raise NotImplementedError
