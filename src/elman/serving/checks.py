"""What a request may hold beyond the types of its values."""

from collections.abc import Sequence

from elman.serving.forms import GenerateForm
from elman.serving.limits import Limits
from elman.serving.request_error import RequestError
from elman.using.texts import Refused, checked


def check_text(text: str, name: str, limits: Limits) -> None:
    """Makes sure that a model can read a text.

    Args:
        text: As it came.
        name: Of the field that it came in.
        limits: How long it may be.

    Raises:
        RequestError: 413, it is too long; 422, it is no text.
    """
    if len(text) > limits.max_characters:
        most = limits.max_characters
        raise RequestError(413, f"{name}: at most {most} characters are allowed, but came {len(text)}")
    found = checked(text)
    if isinstance(found, Refused):
        raise RequestError(422, f"{name}: {found.reason}")


def check_texts(texts: Sequence[str], limits: Limits) -> None:
    """Makes sure that a model can read all texts of a request.

    Raises:
        RequestError: 413, there are too many, or one is too long; 422, one is no text.
    """
    if len(texts) > limits.max_texts:
        most = limits.max_texts
        raise RequestError(413, f"texts: at most {most} are allowed in a request, but came {len(texts)}")
    for number, text in enumerate(texts):
        check_text(text, f"texts.{number}", limits)


def check_generate(form: GenerateForm, limits: Limits) -> None:
    """Makes sure that a prompt may be gone on with as it was asked.

    Raises:
        RequestError: 413, the prompt is too long; 422, it is no text, or a number is above its limit.
    """
    check_text(form.prompt, "prompt", limits)
    for name, value, most in (
        ("samples", form.samples, limits.max_samples),
        ("max_tokens", form.max_tokens, limits.max_new_tokens),
    ):
        if value > most:
            raise RequestError(422, f"{name}: at most {most} are allowed, but came {value}")
