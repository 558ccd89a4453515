"""A language model one token at a time: what a step costs does not depend on how many came before."""

from typing import Any

import numpy as np
import tensorflow as tf

from elman.data.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Tokenizer
from elman.models.compiled import compiled
from elman.models.encoder import State
from elman.models.language_model import LanguageModel
from elman.models.scoring import IDS, MASK, ROWS, state_spec

NEVER = (PAD_ID, UNK_ID, BOS_ID)
_STEPS = 64  # tokens of a prompt at a time


class TokenSteps:
    """State and logits of a language model, compiled once.

    Args:
        model: The language model.
        tokenizer: Its tokenizer.
    """

    def __init__(self, model: LanguageModel, tokenizer: Tokenizer) -> None:
        self._model = model
        self.vocab_size = tokenizer.vocab_size
        allowed = np.ones(self.vocab_size, bool)
        allowed[list(NEVER)] = False
        self.num_choices = int(allowed.sum())
        self._allowed = _penalty(allowed)
        pieces = [tokenizer.piece(number) for number in range(self.vocab_size)]
        begins_word = np.array([piece.startswith("▁") for piece in pieces])
        begins_word[EOS_ID] = True
        self._begins_word = _penalty(begins_word)
        spec = state_spec(model)
        self._read = compiled([IDS, MASK, spec])(self._encode)
        self.step = compiled([ROWS, spec])(self._step)

    def read(self, token_ids: np.ndarray) -> State:
        """The state after tokens that are read from the zero state, each float (1, U); int32 (T,), T may be 0."""
        state = self._model.encoder.zero_state(1)
        for start in range(0, len(token_ids), _STEPS):
            part = token_ids[None, start : start + _STEPS]
            state = self._read(part, np.ones(part.shape, bool), state)
        return state

    def beginning_word(self, logits: Any) -> Any:
        """The logits with -inf at all tokens that go on with a word."""
        return logits + self._begins_word

    def _encode(self, token_ids: Any, padding_mask: Any, state: State) -> State:
        return self._model.encode(token_ids, padding_mask, state)[1]

    def _step(self, token_ids: Any, state: State) -> tuple[Any, State]:
        """Reads one token of each text, int32 (B,).

        Returns:
            float32 (B, V) logits of the next one, -inf at pad, unk and bos; and the new state.
        """
        inputs = token_ids[:, None]  # (B, 1)
        hidden, state = self._model.encode(inputs, tf.ones_like(inputs, tf.bool), state)
        return self._model.project(hidden[:, 0]) + self._allowed, state


def _penalty(allowed: np.ndarray) -> Any:
    return tf.constant(np.where(allowed, 0.0, -np.inf).astype(np.float32))
