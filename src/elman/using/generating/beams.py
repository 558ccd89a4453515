"""Beam search over the carried state, by KerasHub's sampler."""

from typing import Any

import numpy as np
import tensorflow as tf

from elman.data.tokenizer import EOS_ID, PAD_ID
from elman.models.encoder import State
from elman.using.generating.sampling import Sampling, make_sampler
from elman.using.generating.steps import TokenSteps


class BeamSearch:
    """Finds texts that are probable as a whole.

    The sampler keeps `beams` texts, puts every next token behind each, and keeps the best; it moves the states along.
    It would go on after a text's eos, and count what comes then against the text: here the only thing that follows eos
    is eos, with probability 1, so that a text that has ended keeps its place or loses it to a better one.

    Args:
        steps: The model.
        sampling: beams and temperature.
    """

    def __init__(self, steps: TokenSteps, sampling: Sampling) -> None:
        self._steps = steps
        self._sampler = make_sampler(sampling, choices=steps.num_choices)
        only_eos = np.full(steps.vocab_size, -np.inf, np.float32)
        only_eos[EOS_ID] = 0.0
        self._only_eos = tf.constant(only_eos)
        self._search = tf.function(self._run, reduce_retracing=True, autograph=False)  # as in elman.models.compiled

    def __call__(self, token: int, state: State, *, max_tokens: int, begin_word: bool) -> np.ndarray:
        """All beams, the most probable first.

        Args:
            token: The last one of the prompt.
            state: float (1, U) each. Before that token.
            max_tokens: How many follow at most.
            begin_word: Whether the first of them must begin a word.

        Returns:
            int32 (beams, max_tokens). After eos stands eos, or pad where all texts have ended.
        """
        prompt = np.full((1, 1 + max_tokens), PAD_ID, np.int32)
        prompt[0, 0] = token
        return self._search(tf.constant(prompt), state, tf.constant(begin_word)).numpy()

    def _run(self, prompt: Any, state: State, begin_word: Any) -> Any:
        def following(prompt: Any, cache: State, index: Any) -> tuple[Any, None, State]:
            last = prompt[:, index - 1]  # (beams,)
            logits, new = self._steps.step(last, cache)
            # A loop wants its variables to keep their shapes, the number of beams too.
            cache = tuple(tf.ensure_shape(part, before.shape) for part, before in zip(new, cache, strict=True))
            logits = tf.ensure_shape(logits, (last.shape[0], self._steps.vocab_size))
            bound = tf.logical_and(begin_word, tf.equal(index, 1))
            logits = tf.where(bound, self._steps.beginning_word(logits), logits)
            return tf.where(tf.equal(last, EOS_ID)[:, None], self._only_eos, logits), None, cache

        given = tf.range(tf.shape(prompt)[1])[None] < 1  # (1, 1 + max_tokens)
        found, _ = self._sampler(
            following, prompt, cache=state, index=1, mask=given, stop_token_ids=[EOS_ID]
        )  # (1, beams, 1 + max_tokens)
        return found[0, :, 1:]
