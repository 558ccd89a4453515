"""How much a server takes before it says no."""

from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from elman.config import PositiveFloat, PositiveInt, Section
from elman.errors import ConfigError


class Limits(Section):
    """What one server bears; whatever is above it gets a clear refusal instead of an answer.

    Attributes:
        max_body_bytes: Of a request.
        max_texts: In a request.
        max_characters: Of a text, a prompt or a piece of a stream.
        max_new_tokens: That a text is gone on with.
        max_samples: Texts that one prompt is gone on with at a time.
        max_generations: Requests that are generating at a time.
        max_requests: POST and DELETE requests in work at a time, waiting ones included.
        max_waiting: Texts that wait for a batch, for each kind of answer.
        max_batch: Texts that are answered together; 1: each by itself.
        batch_milliseconds: How long the first text of a batch waits for others.
        max_streams: Stream sessions at a time.
        stream_idle_seconds: How long a stream session that nothing is asked of is kept.
        request_seconds: How long a request may take, a generated text too.
        stop_seconds: How long a server that is to stop goes on with what it has taken.
    """

    max_body_bytes: PositiveInt = 1 << 20
    max_texts: PositiveInt = 256
    max_characters: PositiveInt = 50_000
    max_new_tokens: PositiveInt = 1000
    max_samples: PositiveInt = 8
    max_generations: PositiveInt = 8
    max_requests: PositiveInt = 512
    max_waiting: PositiveInt = 1024
    max_batch: PositiveInt = 64
    batch_milliseconds: Annotated[float, Field(ge=0.0, le=1000.0)] = 2.0
    max_streams: PositiveInt = 1000
    stream_idle_seconds: PositiveFloat = 600.0
    request_seconds: PositiveFloat = 30.0
    stop_seconds: PositiveFloat = 30.0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.max_texts > self.max_waiting:
            raise ValueError(
                f"max_waiting: {self.max_texts} or more is needed (max_texts), but came {self.max_waiting}"
            )
        return self


def make_limits(**values: Any) -> Limits:
    """Checked limits.

    Raises:
        ConfigError: One is out of its range; it is named.
    """
    try:
        return Limits(**values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = "".join(f"{part}: " for part in first["loc"])
        came = f", but came {first.get('input')!r}" if name else ""
        raise ConfigError(f"{name}{first['msg'].removeprefix('Value error, ')}{came}") from None
