"""Generated texts: KerasHub's samplers over the carried state, never a token that is none, equal for equal seeds."""

import keras
import numpy as np
import pytest

import elman
from elman.data.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from elman.errors import ConfigError, DataError
from elman.models.serving import Cleaning
from elman.models.spec import ModelSpec
from elman.models.store import build_model
from elman.using.generating.generator import Generator
from elman.using.generating.sampling import make_sampling
from elman.using.text_language_model import TextLanguageModel
from tests.helpers.served_models import CLEANING, write_served
from tests.helpers.tokenizers import trained

SAMPLERS = ("greedy", "random", "top_k", "top_p", "beam")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TextLanguageModel:
    root = tmp_path_factory.mktemp("served")
    write_served(root, task="language_model", cell="lstm", num_layers=2)
    return elman.load("lstm", models=root / "models")


def next_log_probabilities(model: TextLanguageModel, ids: list[int]) -> np.ndarray:
    """float64 (V,) of the token after `ids`, by the whole history at once, with pad, unk and bos left out."""
    token_ids = np.array([ids], np.int32)
    logits, _ = model.model(token_ids, padding_mask=np.ones_like(token_ids, bool))
    row = logits.numpy()[0, -1].astype(np.float64)
    row[[PAD_ID, UNK_ID, BOS_ID]] = -np.inf
    return row - np.log(np.sum(np.exp(row)))


def ids_of(model: TextLanguageModel, pieces: tuple[str, ...]) -> list[int]:
    names = {model.tokenizer.piece(number): number for number in range(model.tokenizer.vocab_size)}
    return [names[piece] for piece in pieces]


def test_greedy_takes_the_most_probable_token_of_the_whole_history(model: TextLanguageModel) -> None:
    (found,) = model.generate("The key", sampler="greedy", max_tokens=12)
    ids = [BOS_ID, *model.tokenizer.encode_batch(["the key"])[0].tolist()]
    for number in ids_of(model, found.pieces):
        assert number == next_log_probabilities(model, ids).argmax()
        ids.append(number)
    assert found.text == model.tokenizer.decode(ids) == found.prompt + found.continuation
    assert len(found.pieces) == 12 or next_log_probabilities(model, ids).argmax() == EOS_ID


def test_draws_follow_the_probabilities_of_the_carried_state(model: TextLanguageModel) -> None:
    ids = [BOS_ID, *model.tokenizer.encode_batch(["a d"])[0].tolist()]
    expected = np.exp(next_log_probabilities(model, ids))
    drawn = model.generate("a d", sampler="random", samples=3000, max_tokens=1)
    counts = np.zeros(len(expected))
    for one in drawn:
        counts[ids_of(model, one.pieces)[0] if one.pieces else EOS_ID] += 1
    assert counts[[PAD_ID, UNK_ID, BOS_ID]].sum() == 0
    np.testing.assert_allclose(counts / 3000, expected, atol=4 * np.sqrt(0.25 / 3000))


def test_top_k_and_top_p_draw_among_the_most_probable_only(model: TextLanguageModel) -> None:
    ids = [BOS_ID, *model.tokenizer.encode_batch(["a d"])[0].tolist()]
    order = np.argsort(-next_log_probabilities(model, ids))
    sums = np.cumsum(np.exp(next_log_probabilities(model, ids))[order])
    for options, left in (
        ({"sampler": "top_k", "top_k": 3}, 3),
        ({"sampler": "top_p", "top_p": 0.6}, int(np.searchsorted(sums, 0.6) + 1)),
        ({"sampler": "top_k", "top_k": 1}, 1),
    ):
        drawn = model.generate("a d", samples=200, max_tokens=1, **options)
        found = {ids_of(model, one.pieces)[0] if one.pieces else EOS_ID for one in drawn}
        assert found == set(order[:left].tolist())


def test_a_low_temperature_draws_what_greedy_takes(model: TextLanguageModel) -> None:
    (greedy,) = model.generate("the", sampler="greedy", max_tokens=8)
    for one in model.generate("the", sampler="random", temperature=1e-3, samples=3, max_tokens=8):
        assert one.continuation == greedy.continuation


def test_beam_search_finds_what_trying_all_texts_finds(model: TextLanguageModel) -> None:
    start = [BOS_ID, *model.tokenizer.encode_batch(["the"])[0].tolist()]
    texts = {(): 0.0}
    for _ in range(2):
        grown = {}
        for ids, score in texts.items():
            if ids[-1:] == (EOS_ID,):
                grown[ids] = score
                continue
            for number, value in enumerate(next_log_probabilities(model, [*start, *ids])):
                if np.isfinite(value):
                    grown[(*ids, number)] = score + value
        texts = grown
    best = sorted(texts, key=texts.get, reverse=True)[:3]
    beams = model.model.spec.vocab_size - 3  # as many as there are tokens: nothing is missed in two steps
    found = model.generate("the", sampler="beam", beams=beams, samples=3, max_tokens=2)
    assert [tuple(ids_of(model, one.pieces)) for one in found] == [
        tuple(number for number in ids if number != EOS_ID) for ids in best
    ]


def test_what_comes_after_the_end_does_not_count_against_a_text(model: TextLanguageModel) -> None:
    ending = build_model(model.model.spec)
    for old, new in zip(model.model.weights, ending.weights, strict=True):
        new.assign(old)
    bias = ending.output_bias.numpy()
    bias[EOS_ID] += 8.0
    ending.output_bias.assign(bias)
    generator = Generator(ending, model.tokenizer, Cleaning(**CLEANING))
    for sampler in ("random", "beam"):
        options = {"sampling": make_sampling(sampler=sampler), "samples": 1, "max_tokens": 9, "seed": 3}
        (found,) = generator.texts(generator.prompt("the"), **options)
        assert (found.end, found.text) == ("eos", "the")


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_equal_seeds_give_equal_texts_whatever_stands_beside_them(model: TextLanguageModel, sampler: str) -> None:
    options = {"sampler": sampler, "max_tokens": 10}
    first = model.generate("the", samples=3, seed=7, **options)
    assert model.generate("the", samples=3, seed=7, **options) == first
    assert model.generate("the", samples=1, seed=7, **options) == first[:1]
    if sampler in ("greedy", "beam"):
        assert model.generate("the", samples=3, seed=8, **options) == first
        return
    assert len({one.text for one in first}) > 1
    assert model.generate("the", samples=3, seed=8, **options) != first


@pytest.mark.parametrize("sampler", ["random", "top_k", "top_p"])
def test_other_options_of_a_sampler_compile_nothing(model: TextLanguageModel, sampler: str) -> None:
    found = set()
    for number in range(1, 6):
        options = {"temperature": 0.2 * number, "top_k": 3 * number, "top_p": 0.19 * number}
        found.add(model.generate("the", sampler=sampler, max_tokens=30, **options)[0].text)
        model.generate("the", sampler=sampler, max_tokens=2, samples=2, **options)
    chooser = model.generator._chooser(sampler)
    assert chooser._alone.experimental_get_tracing_count() == 1
    assert chooser._together.experimental_get_tracing_count() == 1
    assert len(found) > 1


def test_the_global_random_state_is_neither_used_nor_changed(model: TextLanguageModel) -> None:
    keras.utils.set_random_seed(1)
    first = model.generate("the", max_tokens=6)
    after = np.random.random()  # noqa: NPY002
    keras.utils.set_random_seed(1)
    assert np.random.random() == after  # noqa: NPY002
    keras.utils.set_random_seed(2)
    assert model.generate("the", max_tokens=6) == first


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("The  KEY", "the key"),
        ("the key ", "the key "),
        ("", ""),
        (" \n", ""),
        ("the\n", "the "),
        ("a\u200b", "a\u200b"),
    ],
)
def test_a_prompt_is_cleaned_and_is_one_text_with_what_follows(
    model: TextLanguageModel, prompt: str, shown: str
) -> None:
    before = model.tokenizer.encode_batch([shown.rstrip(" ")])[0].tolist()
    for found in model.generate(prompt, samples=5, max_tokens=6, sampler="random"):
        assert found.prompt == shown
        if UNK_ID not in before and found.pieces:
            assert found.text == model.tokenizer.decode([*before, *ids_of(model, found.pieces)])
        if shown.endswith(" ") and found.pieces:
            assert found.pieces[0] == "▁"  # a word follows, and its space stands there already


def test_an_empty_prompt_begins_at_bos(model: TextLanguageModel) -> None:
    (found,) = model.generate(sampler="greedy", max_tokens=1)
    assert ids_of(model, found.pieces) == [next_log_probabilities(model, [BOS_ID]).argmax()]
    assert found.text == model.tokenizer.decode(ids_of(model, found.pieces))


@pytest.mark.parametrize("kind", ["unigram with bytes", "word"])
def test_pad_bos_and_unk_never_come_and_characters_come_whole(kind: str) -> None:
    tokenizer = trained(kind)
    spec = ModelSpec(
        task="language_model", cell="gru", vocab_size=tokenizer.vocab_size, embedding_dim=4, units=4, seed=1
    )
    language_model = build_model(spec)
    bias = np.zeros(spec.vocab_size, np.float32)
    bias[[PAD_ID, UNK_ID, BOS_ID]] = 50.0  # it wants nothing else
    language_model.output_bias.assign(bias)
    generator = Generator(language_model, tokenizer, Cleaning(**{**CLEANING, "lowercase": False}))
    options = {"sampling": make_sampling(sampler="random"), "samples": 4, "max_tokens": 40, "seed": 1}
    chunks = list(generator.chunks(generator.prompt("the 漢 cat"), **options))
    assert not {chunk.token_id for chunk in chunks} & {PAD_ID, UNK_ID, BOS_ID, EOS_ID}
    for sample in range(4):
        own = [chunk for chunk in chunks if chunk.sample == sample]
        ids = [chunk.token_id for chunk in own if chunk.token_id is not None]
        before = tokenizer.encode_batch(["the cat"])[0].tolist()
        text = "the cat" + "".join(chunk.text for chunk in own)
        assert text == tokenizer.decode([*before, *ids])
        assert [chunk.end for chunk in own][-1] in ("eos", "length")


@pytest.mark.parametrize("sampler", ["random", "top_k", "top_p", "beam"])
def test_the_warmest_and_the_coldest_temperature_draw_real_tokens(model: TextLanguageModel, sampler: str) -> None:
    (greedy,) = model.generate("the", sampler="greedy", max_tokens=5)
    (cold,) = model.generate("the", sampler=sampler, temperature=1e-4, max_tokens=5)
    (warm,) = model.generate("the", sampler=sampler, temperature=1e4, max_tokens=5)
    assert cold == greedy
    assert not {"<pad>", "<unk>", "<s>", "</s>"} & set(warm.pieces)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampler": "beem"}, "sampler: one of greedy, random, top_k, top_p, beam is needed, but came 'beem'"),
        ({"temperature": 0.0}, "temperature: 0.0001 to 10000 is needed .*greedy.*, but came 0.0"),
        ({"temperature": 1e-40}, "temperature: 0.0001 to 10000 is needed"),
        ({"temperature": 1e39}, "temperature: 0.0001 to 10000 is needed .* but came 1e.39"),
        ({"temperature": float("nan")}, "temperature: 0.0001 to 10000 is needed .* but came nan"),
        ({"top_p": 1.5}, "top_p: .*less than or equal to 1, but came 1.5"),
        ({"top_k": 0}, "top_k: .*greater than or equal to 1"),
        ({"warmth": 2.0}, "warmth: "),
        ({"samples": 0}, "samples: 1 or more is needed, but came 0"),
        ({"max_tokens": 0}, "max_tokens: 1 or more"),
        ({"sampler": "beam", "samples": 6}, "samples: a beam search finds as many texts as it has beams: 5"),
        ({"sampler": "beam", "beams": 1000}, "beams: at most .* but came 1000"),
    ],
)
def test_an_option_out_of_its_range_is_refused(model: TextLanguageModel, options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        model.generate("the", **options)


def test_a_prompt_that_is_no_text_is_refused(model: TextLanguageModel) -> None:
    with pytest.raises(DataError, match="prompt: character 2 is half of a surrogate pair"):
        model.generate("a\ud83d")
