"""Where a checkout's retraining keeps what it needs from night to night."""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = "retraining"


@dataclass(frozen=True)
class Places:
    """Folders and files below `retraining/`, one set for each registered name; none of them is made here.

    Attributes:
        root: The checkout.
        name: What the registry calls the models, such as "reuters-r8 classifier".
    """

    root: Path
    name: str

    @property
    def base(self) -> Path:
        """Everything of this name."""
        return self.root / FOLDER / re.sub(r"[^A-Za-z0-9._-]+", "-", self.name)

    @property
    def lock(self) -> Path:
        """Held for a whole run; one for the checkout, since two trainings would share its cores."""
        return lock_of(self.root)

    @property
    def state(self) -> Path:
        """What the next run has to know."""
        return self.base / "state.json"

    @property
    def labels(self) -> Path:
        """The label map of the data accepted last."""
        return self.base / "labels.json"

    @property
    def inputs(self) -> Path:
        """Copies of the input, by hash."""
        return self.base / "inputs"

    @property
    def prepared(self) -> Path:
        """Clean text and facts of accepted inputs, by the input's hash."""
        return self.base / "prepared"

    @property
    def frozen(self) -> Path:
        """The test set that all models are compared on."""
        return self.base / "frozen"

    @property
    def work(self) -> Path:
        """Clones of the checkout, in which the pipeline runs."""
        return self.base / "work"

    @property
    def reports(self) -> Path:
        """A report and a log for each run."""
        return self.base / "reports"


def lock_of(root: Path) -> Path:
    """The lock file of a checkout."""
    return root / FOLDER / "lock"
