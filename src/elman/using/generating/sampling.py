"""How the next token is chosen: KerasHub's samplers, each text with random numbers of its own.

The only importer of keras_hub, which is loaded with the first sampler.
"""

from typing import Annotated, Any, Literal, get_args

import keras
import numpy as np
import tensorflow as tf
from pydantic import Field, ValidationError

from elman.config import Section
from elman.errors import ConfigError
from elman.models.compiled import compiled
from elman.seeding import derive_seed

Kind = Literal["greedy", "random", "top_k", "top_p", "beam"]


class Sampling(Section):
    """What chooses the next token.

    Attributes:
        sampler: greedy: the most probable one. random: by the probabilities. top_k, top_p: the same among the most
            probable ones. beam: the text that is the most probable as a whole, of those that a beam search finds.
        temperature: What the logits are divided by: below 1 probable tokens become more so. Without effect on greedy.
            Far out of 0.0001 to 10,000 the quotients are no floats any more.
        top_k: How many tokens are left by top_k.
        top_p: Tokens are left until their probabilities add up to more than this.
        beams: How many texts are followed at a time.
    """

    sampler: Kind = "top_p"
    temperature: Annotated[float, Field(ge=1e-4, le=1e4, allow_inf_nan=False)] = 1.0
    top_k: Annotated[int, Field(ge=1)] = 40
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] = 0.9
    beams: Annotated[int, Field(ge=1)] = 5


def make_sampling(**options: Any) -> Sampling:
    """Checked options.

    Raises:
        ConfigError: An option is unknown or out of its range.
    """
    try:
        return Sampling(**options)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        known = {
            "sampler": f"one of {', '.join(get_args(Kind))} is needed",
            "temperature": "0.0001 to 10000 is needed (the sampler greedy always takes the most probable token)",
        }
        shown = known.get(name, first["msg"])
        raise ConfigError(f"{name}: {shown}, but came {first.get('input')!r}") from None


class NamedSeed(keras.random.SeedGenerator):
    """Hands out the seed that it was told, where Keras' own counts its draws.

    So a draw is a function of seed, text and place, and not of how many texts are drawn side by side.
    """

    def __init__(self) -> None:
        super().__init__(seed=0)
        self.now: Any = None

    def next(self, ordered: bool = True) -> Any:
        """int64 (2,)."""
        return self.now


class Chooser:
    """Draws the next token of each text with one of KerasHub's samplers; compiled once for all its options.

    A sampler keeps its options as Python's numbers, so that each other temperature would be compiled anew: a quarter of
    a second, and memory that TensorFlow does not give back. Here they are tensors when the sampler is traced.

    Args:
        kind: Which sampler; not beam, which chooses whole texts.
        vocab_size: V.
        choices: Tokens that can be drawn at all.
    """

    def __init__(self, kind: Kind, *, vocab_size: int, choices: int) -> None:
        self._sampler = make_sampler(Sampling(sampler=kind), choices=choices)
        self._kind, self._choices = kind, choices
        self._seed = NamedSeed()
        if kind != "greedy":
            self._sampler.seed_generator = self._seed
        self._alone = compiled(_signature(vocab_size, rows=1))(self._draw_one)
        self._together = compiled(_signature(vocab_size, rows=None))(self._draw_each)

    def __call__(self, logits: Any, sampling: Sampling, *, seeds: np.ndarray, place: int) -> np.ndarray:
        """Draws.

        Args:
            logits: float32 (B, V). -inf where a token is never to be drawn.
            sampling: Its options, with the sampler that this is.
            seeds: int64 (B,). One for each text; see `text_seeds`.
            place: How many tokens were drawn before.

        Returns:
            int32 (B,).
        """
        named = np.stack([seeds, np.full_like(seeds, place)], axis=1)
        draw = self._alone if len(named) == 1 else self._together
        shares = np.array([sampling.temperature, sampling.top_p], np.float32)
        return draw(logits, named, shares, np.int32(min(sampling.top_k, self._choices))).numpy()

    def _draw_one(self, logits: Any, seeds: Any, shares: Any, top_k: Any) -> Any:
        """int32 (1,) of float32 (1, V), int64 (1, 2), and the options as tensors."""
        self._seed.now = seeds[0]
        self._sampler.temperature = shares[0]
        if self._kind == "top_p":
            self._sampler.p = shares[1]
        elif self._kind == "top_k":
            self._sampler.k = top_k
        return tf.cast(self._sampler.get_next_token(self._sampler.compute_probabilities(logits)), tf.int32)

    def _draw_each(self, logits: Any, seeds: Any, shares: Any, top_k: Any) -> Any:
        """Row by row: a draw of all rows at once would depend on their number."""

        def draw(row: tuple[Any, Any]) -> Any:
            return self._draw_one(row[0], row[1], shares, top_k)[0]

        return tf.map_fn(draw, (logits[:, None], seeds[:, None]), fn_output_signature=tf.int32)


def _signature(vocab_size: int, *, rows: int | None) -> list[tf.TensorSpec]:
    options = [tf.TensorSpec((2,), tf.float32), tf.TensorSpec((), tf.int32)]
    return [tf.TensorSpec((rows, vocab_size), tf.float32), tf.TensorSpec((rows, 2), tf.int64), *options]


def text_seeds(seed: int, count: int) -> np.ndarray:
    """int64 (count,): the seeds of texts that are drawn side by side, each named by `seed` and its own number."""
    return np.array([derive_seed(seed, "generate", number) for number in range(count)], np.int64)


def make_sampler(sampling: Sampling, *, choices: int) -> Any:
    """KerasHub's sampler.

    Args:
        sampling: Which one.
        choices: Tokens that can be drawn at all.

    Raises:
        ConfigError: More beams than tokens.
    """
    import keras_hub

    samplers = keras_hub.samplers
    if sampling.sampler == "greedy":
        return samplers.GreedySampler()
    warmth = {"temperature": sampling.temperature}
    if sampling.sampler == "random":
        return samplers.RandomSampler(seed=0, **warmth)
    if sampling.sampler == "top_k":
        return samplers.TopKSampler(k=min(sampling.top_k, choices), seed=0, **warmth)
    if sampling.sampler == "top_p":
        return samplers.TopPSampler(p=sampling.top_p, seed=0, **warmth)
    if sampling.beams > choices:
        raise ConfigError(f"beams: at most {choices}, the tokens that can be drawn, but came {sampling.beams}")
    return samplers.BeamSampler(num_beams=sampling.beams, return_all_beams=True, **warmth)
