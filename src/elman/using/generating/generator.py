"""A text that is gone on with, token by token."""

from collections.abc import Iterator
from functools import cache, lru_cache, partial

import numpy as np
import tensorflow as tf

from elman.data.cleaning import clean_text
from elman.data.tokenizer import BOS_ID, EOS_ID, Tokenizer
from elman.errors import ConfigError, DataError
from elman.models.language_model import LanguageModel
from elman.models.serving import Cleaning
from elman.using.generating.beams import BeamSearch
from elman.using.generating.generated import Chunk, End, Generated, Prompt
from elman.using.generating.incremental_text import IncrementalText
from elman.using.generating.sampling import Chooser, Sampling, text_seeds
from elman.using.generating.steps import TokenSteps
from elman.using.texts import Refused, checked


class Generator:
    """Goes on with texts.

    Args:
        model: The language model.
        tokenizer: Its tokenizer.
        cleaning: As its text was cleaned.
    """

    def __init__(self, model: LanguageModel, tokenizer: Tokenizer, cleaning: Cleaning) -> None:
        self._tokenizer, self._cleaning = tokenizer, cleaning
        self._steps = steps = TokenSteps(model, tokenizer)
        # What is compiled for a sampler is kept for the next text.
        chooser = partial(Chooser, vocab_size=steps.vocab_size, choices=steps.num_choices)
        self._chooser = cache(chooser)
        self._beam_search = lru_cache(8)(partial(BeamSearch, steps))

    def prompt(self, text: str) -> Prompt:
        """Cleans and encodes what a text begins with.

        Raises:
            DataError: It is no text.
        """
        found = checked(text)
        if isinstance(found, Refused):
            raise DataError(f"prompt: {found.reason}")
        clean = clean_text(found, **self._cleaning.model_dump())
        if self._cleaning.whitespace == "collapse":
            begin_word = bool(clean) and found[-1].isspace()
        else:
            begin_word = clean.endswith(" ")
            clean = clean.removesuffix(" ")
        ids = self._tokenizer.encode_batch([clean], threads=1)[0]
        begin_word = begin_word and len(ids) > 0
        return Prompt(clean + " " * begin_word, np.concatenate([[BOS_ID], ids]).astype(np.int32), begin_word)

    def chunks(
        self, prompt: Prompt, *, sampling: Sampling, samples: int, max_tokens: int, seed: int
    ) -> Iterator[Chunk]:
        """The texts as they come, token by token side by side; with beam each as a whole, the most probable first.

        Args:
            prompt: What they begin with.
            sampling: What chooses the next token.
            samples: How many texts.
            max_tokens: Of each text, at most.
            seed: Names the texts.

        Raises:
            ConfigError: An option is out of its range.
        """
        for name, value in (("samples", samples), ("max_tokens", max_tokens)):
            if value < 1:
                raise ConfigError(f"{name}: 1 or more is needed, but came {value}")
        skip_space = prompt.begin_word or len(prompt.token_ids) == 1
        texts = [IncrementalText(self._tokenizer, skip_space=skip_space) for _ in range(samples)]
        going = np.ones(samples, bool)
        steps = self._beams if sampling.sampler == "beam" else self._draws
        for number, tokens in enumerate(steps(prompt, sampling, samples, max_tokens, seed), start=1):
            for sample in np.flatnonzero(going).tolist():
                token_id = int(tokens[sample])
                end: End | None = "eos" if token_id == EOS_ID else "length" if number == max_tokens else None
                if token_id != EOS_ID:
                    yield Chunk(sample, texts[sample].add(token_id), token_id, None)
                if end is not None:
                    yield Chunk(sample, texts[sample].finish(), None, end)
                    going[sample] = False
            if not going.any():
                return

    def texts(self, prompt: Prompt, *, sampling: Sampling, samples: int, max_tokens: int, seed: int) -> list[Generated]:
        """The texts as a whole; arguments as in `chunks`."""
        chunks = list(self.chunks(prompt, sampling=sampling, samples=samples, max_tokens=max_tokens, seed=seed))
        found = []
        for sample in range(samples):
            own = [chunk for chunk in chunks if chunk.sample == sample]
            pieces = tuple(self._tokenizer.piece(chunk.token_id) for chunk in own if chunk.token_id is not None)
            text = "".join(chunk.text for chunk in own)
            found.append(Generated(prompt=prompt.text, continuation=text, pieces=pieces, end=own[-1].end or "length"))
        return found

    def _draws(
        self, prompt: Prompt, sampling: Sampling, samples: int, max_tokens: int, seed: int
    ) -> Iterator[np.ndarray]:
        """The next token of each text, int32 (samples,), time after time."""
        choose, seeds = self._chooser(sampling.sampler), text_seeds(seed, samples)
        state = tuple(tf.repeat(part, samples, axis=0) for part in self._steps.read(prompt.token_ids[:-1]))
        tokens = np.full(samples, prompt.token_ids[-1], np.int32)
        for place in range(max_tokens):
            logits, state = self._steps.step(tokens, state)
            if place == 0 and prompt.begin_word:
                logits = self._steps.beginning_word(logits)
            tokens = choose(logits, sampling, seeds=seeds, place=place)
            yield tokens

    def _beams(
        self, prompt: Prompt, sampling: Sampling, samples: int, max_tokens: int, seed: int
    ) -> Iterator[np.ndarray]:
        if samples > sampling.beams:
            raise ConfigError(f"samples: a beam search finds as many texts as it has beams: {sampling.beams}")
        state = self._steps.read(prompt.token_ids[:-1])
        search = self._beam_search(sampling)
        found = search(int(prompt.token_ids[-1]), state, max_tokens=max_tokens, begin_word=prompt.begin_word)
        yield from found[:samples].T
