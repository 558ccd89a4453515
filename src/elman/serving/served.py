"""What the server asks of a model."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from elman.serving.forms import GenerateForm, Task


class TextAsk(NamedTuple):
    """A text that is to be classified or scored.

    Attributes:
        text: As it came.
        tokens: Whether a score has each token's nats.
    """

    text: str
    tokens: bool = False


class Feed(NamedTuple):
    """The next piece of a stream.

    Attributes:
        stream: From `open_stream`.
        text: The piece; None where the text ends.
    """

    stream: Any
    text: str | None


class GeneratedPiece(Protocol):
    """What became certain of a text; `elman.using.generating.generated.Chunk` is one."""

    @property
    def sample(self) -> int:
        """Which text, from 0."""

    @property
    def text(self) -> str:
        """What follows the text so far; may be empty."""

    @property
    def token_id(self) -> int | None:
        """Of the token that it came with; None at the end."""

    @property
    def end(self) -> str | None:
        """Why the text ends here, else None."""


class Served(Protocol):
    """A model that takes text. All calls come from one thread, one after the other."""

    task: Task

    def facts(self) -> dict[str, Any]:
        """What the health page says of it, as plain values."""

    def answer(self, asks: Sequence[TextAsk]) -> list[bytes]:
        """A JSON object for each text."""

    def open_stream(self) -> Any:
        """A stream of this model at the beginning of a text.

        Raises:
            ArtifactError: The model cannot read a text that has no end yet.
        """

    def feed(self, feeds: Sequence[Feed]) -> list[bytes]:
        """A JSON object for each stream, side by side; the streams are different ones."""


class ServedLanguageModel(Served, Protocol):
    """A model that goes on with text, too."""

    def begin(self, form: GenerateForm) -> tuple[str, Iterator[GeneratedPiece]]:
        """The prompt as it was cleaned, and what follows, computed as it is asked for."""
