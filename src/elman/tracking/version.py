"""One registered package."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

HASH_TAG = "package_hash"


def registered_name(dataset: str, task: str) -> str:
    """What the registry calls the models of a data set and task.

    Example:
        >>> registered_name("reuters-r8", "language_model")
        'reuters-r8 language model'
        >>> registered_name("my:news@home", "classifier")
        'my-news-home classifier'
    """
    plain = re.sub("[/:@'\"]", "-", dataset)
    return f"{plain} {task.replace('_', ' ')}"


@dataclass(frozen=True, kw_only=True)
class Version:
    """A registered package.

    Attributes:
        number: Counts from 1.
        run_id: The run that the package came from.
        tags: As given to `Registry.add`, with task, cell, seed and package_hash.
        created: When, in UTC.
        package_hash: `Package.hash`.
        aliases: Those that it carries, such as "champion".
    """

    number: int
    run_id: str
    tags: Mapping[str, str]
    created: datetime
    package_hash: str
    aliases: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Any, aliases: Mapping[str, int]) -> "Version":
        """What MLflow's `ModelVersion` says.

        Args:
            found: The `ModelVersion`.
            aliases: The number under each alias of the registered model; MLflow's own list may lack them.
        """
        number, tags = int(found.version), dict(found.tags)
        return cls(
            number=number,
            run_id=str(found.run_id),
            tags=tags,
            created=datetime.fromtimestamp(found.creation_timestamp / 1000, UTC),
            package_hash=tags.get(HASH_TAG, ""),
            aliases=tuple(sorted(alias for alias, one in aliases.items() if one == number)),
        )
