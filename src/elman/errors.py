"""Every error that elman raises on purpose, as one tree.

ElmanError                     exit code 1
├── ConfigError                exit code 2    params.yaml is wrong
├── BusyError                  exit code 20   another job holds the lock
├── DataError                  exit code 30   a file or row of the input is wrong
│   ├── LabelError                            a label is unknown, missing or written in two ways
│   └── LeakageError                          the splits share documents
├── TokenizerError             exit code 31   the tokenizer cannot be trained or loaded
├── ArtifactError              exit code 32   a file that a stage wrote is missing, damaged or of another version
├── DeviceError                exit code 33   the device asked for is not there
├── ConversionError            exit code 34   weights of another library have no counterpart here, or the other way
├── CheckError                 exit code 35   a check of this machine failed
├── StorageError               exit code 36   a disk is full, read-only or not permitted
├── ListenError                exit code 37   a server cannot listen where it was told to
├── TrainingError              exit code 40   training diverged or cannot start
├── StageError                 exit code 40   a stage of the pipeline failed in a retraining
├── MetricError                exit code 41   a measure is not defined on what it was given
└── TrackingError              exit code 50   the tracking store cannot be reached or refused
    └── RegistryError                         the registry of models refuses a version or a move of the champion

A message says which thing is wrong, what is allowed, what came, and where to mend it.
"""


class ElmanError(Exception):
    """Base of all errors raised on purpose; `exit_code` is what a command ends with."""

    exit_code = 1


class ConfigError(ElmanError):
    """params.yaml, or an override of it, is not valid."""

    exit_code = 2


class BusyError(ElmanError):
    """Another job works where only one may."""

    exit_code = 20


class DataError(ElmanError):
    """The input text cannot be used as it is."""

    exit_code = 30


class LabelError(DataError):
    """A label is unknown to train, missing, or written in more than one way."""


class LeakageError(DataError):
    """Documents stand in more than one split."""


class TokenizerError(ElmanError):
    """The tokenizer cannot be trained on this text, or a stored one cannot be used."""

    exit_code = 31


class ArtifactError(ElmanError):
    """A file that a stage wrote is missing, damaged or of another version."""

    exit_code = 32


class DeviceError(ElmanError):
    """The device asked for is not on this machine."""

    exit_code = 33


class ConversionError(ElmanError):
    """Weights of another library have no counterpart here, or ours have none there."""

    exit_code = 34


class CheckError(ElmanError):
    """What is computed on this machine is not right."""

    exit_code = 35


class StorageError(ElmanError):
    """A disk is full, read-only, broken, or this user may not write there."""

    exit_code = 36


class ListenError(ElmanError):
    """A server cannot listen at the host and port that it was told."""

    exit_code = 37


class TrainingError(ElmanError):
    """Training cannot start or cannot go on."""

    exit_code = 40


class StageError(ElmanError):
    """A stage of the pipeline failed.

    Attributes:
        stage: Its name, such as train@classifier-gru.
    """

    exit_code = 40

    def __init__(self, message: str, *, stage: str, exit_code: int = 40) -> None:
        super().__init__(message)
        self.stage, self.exit_code = stage, exit_code


class MetricError(ElmanError):
    """A measure is not defined on what it was given."""

    exit_code = 41


class TrackingError(ElmanError):
    """The tracking store cannot be reached, or refused what was sent."""

    exit_code = 50


class RegistryError(TrackingError):
    """A model version cannot be registered, promoted, brought back or deleted."""
