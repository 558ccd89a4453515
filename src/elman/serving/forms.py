"""What requests hold and what answers look like; the OpenAPI page is made of these."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Task = Literal["classifier", "language_model"]
Sampler = Literal["greedy", "random", "top_k", "top_p"]


class Form(BaseModel):
    """Strict, and closed to unknown names."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class ClassifyForm(Form):
    """Texts to classify."""

    texts: Annotated[list[str], Field(min_length=1, examples=[["wheat exports rose", "net profit fell"]])]


class ScoreForm(Form):
    """Texts to score, each by itself."""

    texts: Annotated[list[str], Field(min_length=1, examples=[["wheat exports rose"]])]
    tokens: Annotated[bool, Field(description="Whether each token's nats are wanted too.")] = False


class GenerateForm(Form):
    """What to go on with, and how."""

    prompt: Annotated[str, Field(description="Empty: a text from its beginning.", examples=["wheat exports"])] = ""
    samples: Annotated[int, Field(ge=1, description="Texts, side by side.")] = 1
    max_tokens: Annotated[int, Field(ge=1, description="That follow the prompt, at most.")] = 100
    sampler: Sampler = "top_p"
    temperature: Annotated[float, Field(ge=0.01, le=100.0)] = 1.0
    top_k: Annotated[int, Field(ge=1, le=1_000_000)] = 40
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] = 0.9
    seed: Annotated[int, Field(ge=0, lt=2**53, description="Equal requests give equal texts.")] = 1


class StreamForm(Form):
    """Which model reads the stream; without, the language model, or the classifier where there is none."""

    task: Task | None = None


class FeedForm(Form):
    """The next piece of a text; any cut will do."""

    text: Annotated[str, Field(examples=["wheat exports ro"])]


class ClassificationAnswer(BaseModel):
    """The class of a text, of so many of its tokens."""

    label: str
    probability: float
    probabilities: dict[str, float]
    num_tokens: int
    num_tokens_read: int
    cut: bool


class ClassifyAnswer(BaseModel):
    """In the order of the texts."""

    classifications: list[ClassificationAnswer]


class TokenAnswer(BaseModel):
    """A token, with `▁` for a space, and its negative log-likelihood."""

    piece: str
    nll_nats: float


class ScoreOfText(BaseModel):
    """A text's perplexity block; where a perplexity is no float any more, it is null and `perplexity_overflow` true."""

    nll_nats: float
    nll_nats_per_token: float
    perplexity: float | None
    perplexity_per_word: float | None
    perplexity_overflow: bool
    bits_per_byte: float
    num_tokens: int
    num_words: int
    num_bytes: int
    num_documents: int
    unk_fraction: float
    tokens: list[TokenAnswer] | None = None


class ScoreAnswer(BaseModel):
    """In the order of the texts."""

    scores: list[ScoreOfText]


class StreamAnswer(BaseModel):
    """A stream that was begun."""

    id: str
    task: Task
    idle_seconds: float


class SurpriseAnswer(BaseModel):
    """The tokens that became certain, and how many there are so far, with their nats."""

    tokens: list[TokenAnswer]
    num_tokens: int
    nll_nats: float


class HealthAnswer(BaseModel):
    """Whether requests are answered, and by which models."""

    status: Literal["ok", "broken"]
    version: str
    models: dict[str, dict[str, Any]]
    limits: dict[str, float]


class ErrorAnswer(BaseModel):
    """Why there is no answer."""

    error: str
