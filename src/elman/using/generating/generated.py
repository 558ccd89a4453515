"""What a text is made from that is gone on with, and what comes of it."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

End = Literal["eos", "length"]


class Chunk(NamedTuple):
    """What became certain of one text.

    Attributes:
        sample: Which text, from 0.
        text: What follows the text so far; may be empty.
        token_id: Of the token that it came with; None at the end.
        end: Why the text ends here, else None.
    """

    sample: int
    text: str
    token_id: int | None
    end: End | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Generated:
    """A text that was gone on with.

    Attributes:
        prompt: What it begins with, cleaned.
        continuation: What follows; may begin with a space.
        pieces: The tokens of the continuation, with `▁` for a space, without eos.
        end: "eos": the model ended the text. "length": it has as many tokens as were asked for.
    """

    prompt: str
    continuation: str
    pieces: tuple[str, ...]
    end: End

    @property
    def text(self) -> str:
        """Prompt and continuation as one text."""
        return self.prompt + self.continuation

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "text": self.text,
            "prompt": self.prompt,
            "continuation": self.continuation,
            "num_tokens": len(self.pieces),
            "end": self.end,
        }


class Prompt(NamedTuple):
    """What a text begins with.

    Attributes:
        text: Cleaned; ends with a space where it came with white space at its end.
        token_ids: int32 (T,). bos, then its tokens.
        begin_word: Whether it ends with a space, so that a word must follow, which brings a space of its own.
    """

    text: str
    token_ids: np.ndarray
    begin_word: bool
