"""What one run leaves for the next, in one file that is written whole or not at all."""

from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from elman.artifacts import write_text
from elman.config import Section

MAX_ATTEMPTS = 3  # of one pending training; after them the input is taken anew


class Trained(Section):
    """The last training that came to a decision.

    Attributes:
        snapshot: Hash of its input.
        commit: The code and settings.
        at: When.
    """

    snapshot: str
    commit: str
    at: datetime


class Pending(Section):
    """A training that has begun.

    Attributes:
        snapshot: Hash of its input.
        commit: The code and settings.
        reasons: Why it was begun, as `Reason.to_json` gives them.
        champion: Number of the champion when it was begun; None without one.
        attempts: How often it was begun.
    """

    snapshot: str
    commit: str
    reasons: dict[str, Any]
    champion: int | None
    attempts: int


class State(Section):
    """All of it.

    Attributes:
        accepted: Hash of the input that passed validation last.
        trained: The last training that came to a decision.
        pending: A training that was interrupted.
        anchor: What the gate keeps from decision to decision.
        last_success: When a run last did what it is there for.
    """

    version: Literal[1] = 1
    accepted: str | None = None
    trained: Trained | None = None
    pending: Pending | None = None
    anchor: dict[str, Any] | None = None
    last_success: datetime | None = None


def read_state(path: Path, *, mend: bool = True) -> tuple[State, str]:
    """The state, and what is to be said about it.

    A state that cannot be read is set aside: without it nothing can be held against the data accepted last, but the
    champion and the frozen test set, which guard a promotion, do not stand in it.

    Args:
        path: The file.
        mend: Whether a file that cannot be read is set aside.
    """
    try:
        return State.model_validate_json(path.read_bytes()), ""
    except FileNotFoundError:
        return State(), ""
    except ValidationError as error:
        aside = path.with_suffix(".damaged.json")
        first = error.errors(include_url=False)[0]["msg"]
        if not mend:
            return State(), f"{path}: cannot be read ({first})"
        path.replace(aside)
        return State(), f"{path}: could not be read ({first}), was moved to {aside.name}, and a new one was begun"


def write_state(path: Path, state: State) -> None:
    """Writes it."""
    write_text(path, state.model_dump_json(indent=2) + "\n")
