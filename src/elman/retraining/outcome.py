"""How a run ended: a word, an exit code, and the facts, which go into one JSON line."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from elman.errors import BusyError, ConfigError, DataError, ElmanError, StageError, TrackingError

VERSION = 1

EXIT_CODES = {
    "promoted": 0,
    "would_train": 0,
    "rolled_back": 0,
    "not_promoted": 10,
    "nothing_to_do": 11,
    "busy": 20,
    "bad_data": 30,
    "failed": 40,
    "unreachable": 50,
}
SUCCESSES = ("promoted", "not_promoted", "nothing_to_do")  # the job did what it is there for


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of a run.

    Attributes:
        result: A key of `EXIT_CODES`, or "refused" (params.yaml), or "interrupted".
        message: For a person.
        exit_code: What the command ends with.
        stage: What failed: a step of the job, or a stage of the pipeline.
        facts: What was found on the way.
    """

    result: str
    message: str
    exit_code: int
    stage: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain values; facts never hide what comes first."""
        first = {"version": VERSION, "result": self.result, "exit_code": self.exit_code, "stage": self.stage}
        return {**first, "message": self.message, **{k: v for k, v in self.facts.items() if k not in first}}

    def line(self) -> str:
        """The JSON line, strict; there is always one, if need be without the facts."""
        try:
            return json.dumps(self.to_json(), allow_nan=False, default=str)
        except ValueError:
            return json.dumps(replace(self, facts={}).to_json())


def ended(result: str, message: str, facts: Mapping[str, Any]) -> Outcome:
    """An end that the job came to by itself."""
    return Outcome(result=result, message=message, exit_code=EXIT_CODES[result], facts=facts)


def outcome_of(error: BaseException, *, step: str, facts: Mapping[str, Any]) -> Outcome:
    """What an exception means for the one who waits for the job.

    Args:
        error: Whatever came.
        step: What the job was doing.
        facts: What was found before.

    Example:
        >>> outcome_of(OSError(28, "No space left on device"), step="intake", facts={}).message
        'intake: [Errno 28] No space left on device'
        >>> outcome_of(SystemExit(143), step="repro", facts={}).exit_code
        143
    """
    text = str(error).strip() or type(error).__name__
    if isinstance(error, SystemExit | KeyboardInterrupt):
        code = 130 if isinstance(error, KeyboardInterrupt) else error.code
        code = code if isinstance(code, int) else 1
        message = f"asked to stop during {step}; the next run goes on here"
        return Outcome(result="interrupted", message=message, exit_code=code, stage=step, facts=facts)
    for kind, result in ((BusyError, "busy"), (DataError, "bad_data"), (TrackingError, "unreachable")):
        if isinstance(error, kind):
            return Outcome(result=result, message=text, exit_code=EXIT_CODES[result], stage=step, facts=facts)
    if isinstance(error, ConfigError):
        return Outcome(result="refused", message=text, exit_code=error.exit_code, stage=step, facts=facts)
    stage = error.stage if isinstance(error, StageError) else step
    if isinstance(error, StageError):
        result = {30: "bad_data", 50: "unreachable"}.get(error.exit_code, "failed")
    else:
        result = "failed"
        text = text if isinstance(error, ElmanError) else f"{step}: {_named(error, text)}"
    return Outcome(result=result, message=text, exit_code=EXIT_CODES[result], stage=stage, facts=facts)


def _named(error: BaseException, text: str) -> str:
    return text if isinstance(error, OSError) else f"{type(error).__name__}: {text}"
