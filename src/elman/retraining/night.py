"""One run of the job: what it works on, what it has found so far, and the tools it works with."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from elman.config import Params, RetrainingConfig
from elman.retraining.places import Places
from elman.retraining.scoring import Packing, Scoring
from elman.retraining.state import State
from elman.retraining.workspace import Workspace
from elman.tracking.registry import Registry


class Options(NamedTuple):
    """What a person asks for.

    Attributes:
        force: Train without a reason.
        dry_run: Decide whether to train, and change nothing.
        accept_data: Take the input though validation has something against it.
    """

    force: bool = False
    dry_run: bool = False
    accept_data: bool = False


class Repro(Protocol):
    """See `elman.retraining.pipeline.repro`."""

    def __call__(self, workspace: Workspace, target: str, *, store: str) -> None:
        """Runs a stage and all that it needs."""


class Score(Protocol):
    """See `elman.retraining.scoring.score`."""

    def __call__(self, folder: Path, scorings: Sequence[Scoring], *, packing: Packing | None = None, step: str) -> None:
        """Writes scores, and a package before."""


class Decide(Protocol):
    """See `elman.tracking.decisions.decision_run`."""

    def __call__(
        self, root: Path, registered: str, *, title: str, tags: Mapping[str, Any], params: Mapping[str, Any]
    ) -> AbstractContextManager[Any]:
        """The run of a decision."""


class Tools(NamedTuple):
    """What reaches out of this package; tests put others in their place.

    Attributes:
        open_store: Opens the tracking store for a checkout and an experiment, and ends the runs of processes that are
            gone.
        registry_is_there: Whether the store of a checkout and a name in its registry exist.
        registry: Opens the registry of a checkout for a name.
        repro: Runs the pipeline.
        score: Scores models.
        decide: Records a decision.
        forget: Deletes the run of a rejected model in a checkout's store, and its files.
    """

    open_store: Callable[[Path, str], None]
    registry_is_there: Callable[[Path, str], bool]
    registry: Callable[[Path, str], Registry]
    repro: Repro
    score: Score
    decide: Decide
    forget: Callable[[Path, str], None]


@dataclass
class Night:
    """A run.

    Attributes:
        root: The checkout.
        options: What is asked for.
        tools: What to work with.
        clock: The time, in UTC.
        say: Gets a line for a person.
        step: What is being done; errors are named by it.
        facts: What was found, for the JSON line and the report.
        params: As committed.
        places: Where everything is.
        commit: The commit.
        task: The task.
        cell: The cell.
        scratch: A folder for what is not kept.
        state: As the last run left it, and then as this one does.
    """

    root: Path
    options: Options
    tools: Tools
    clock: Callable[[], datetime]
    say: Callable[[str], None]
    step: str = "settings"
    facts: dict[str, Any] = field(default_factory=lambda: {"notes": []})
    params: Params = field(init=False)
    places: Places = field(init=False)
    commit: str = field(init=False)
    task: str = field(init=False)
    cell: str = field(init=False)
    scratch: Path = field(init=False)
    state: State = field(default_factory=State)

    @property
    def config(self) -> RetrainingConfig:
        """The section `retraining`."""
        return self.params.retraining

    def note(self, text: str) -> None:
        """Something that the reader of the report has to know."""
        if text:
            self.facts["notes"].append(text)
            self.say(f"note: {text}")

    def begin(self, step: str, text: str = "") -> None:
        """The next step."""
        self.step = step
        self.say(f"{step}: {text}" if text else step)
