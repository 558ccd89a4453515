"""What all sections of params.yaml are made of: their base, the types of their values, and words for a wrong key."""

import difflib
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Task = Literal["classifier", "language_model"]
Cell = Literal["simple_rnn", "lstm", "gru"]

Fraction = Annotated[float, Field(ge=0.0, lt=1.0, allow_inf_nan=False)]
WholeFraction = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
PositiveFloat = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
NonNegativeFloat = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
PositiveInt = Annotated[int, Field(gt=0)]
Share = Annotated[float, Field(gt=0.0, le=1.0, allow_inf_nan=False)]


def as_tuple(value: Any) -> Any:
    """YAML has lists only; the frozen models hold tuples."""
    return tuple(value) if isinstance(value, list) else value


class Section(BaseModel):
    """Base of all sections: frozen, strict, and closed to unknown keys.

    What pydantic checks with is built when a section is first checked, not when it is imported: whoever reads only the
    few lines beside a model does not wait for all of params.yaml.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False, defer_build=True)


def unknown_key(dotted: str, key: str, section: type[BaseModel]) -> str:
    """Says which key is meant: the nearest name of the section, or all of them where none is near."""
    near = difflib.get_close_matches(key, list(section.model_fields), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"valid names: {', '.join(sorted(section.model_fields))}"
    return f"{dotted}: unknown key; {hint}"
