"""A model package as MLflow serves it: raw strings in, a row of answers each out.

MLflow imports this module by its name, which the MLmodel file of a registered package holds (`loader_module`), and
calls `_load_pyfunc`; nothing is unpickled.
"""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elman.stages import quiet_tensorflow
from elman.tracking.flavor import TEXT_COLUMN, refuse_request

if TYPE_CHECKING:
    import pandas as pd

    from elman.packages.loading import TextModel


def _load_pyfunc(data_path: str) -> "ServedModel":
    """What MLflow calls with the package's folder.

    Raises:
        ArtifactError: The package is refused (`elman.packages.loading.load_package`).
    """
    quiet_tensorflow()
    from elman.packages.loading import load_package

    return ServedModel(load_package(Path(data_path)))


class ServedModel:
    """Answers requests, one at a time: a server calls it from many threads, and compiled kernels bear only one."""

    def __init__(self, model: "TextModel") -> None:
        self._model = model
        self._lock = threading.Lock()

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> "pd.DataFrame":
        """One row of answers for each text, in order.

        Args:
            model_input: A DataFrame with a column `text`, or a list or an array of strings.
            params: None are known.

        Returns:
            Classifier: `label`, `probability` (of that label) and `probabilities` (a dict over all labels).
            Language model: `nll_nats`, `perplexity` (a token; None where it is no float any more), `bits_per_byte` and
            `num_tokens`, of each text by itself, whatever else is in the request.

        Raises:
            MlflowException: A row is no text; all such rows are named, counted from 1. A server answers 400.
        """
        import pandas as pd

        texts = _texts(model_input)
        with self._lock:
            rows = self._answer(texts)
        return pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=object) for name in self._columns})

    @property
    def _columns(self) -> tuple[str, ...]:
        if self._model.task == "classifier":
            return ("label", "probability", "probabilities")
        return ("nll_nats", "perplexity", "bits_per_byte", "num_tokens")

    def _answer(self, texts: list[object]) -> list[dict[str, Any]]:
        from elman.using.texts import Refused

        model: Any = self._model
        answers = (
            model.classify_each(texts) if model.task == "classifier" else model.score_each(texts, state="document")
        )
        rows: list[dict[str, Any]] = []
        refused: list[str] = []
        for number, answer in enumerate(answers, start=1):
            if isinstance(answer, Refused):
                refused.append(f"row {number}: {answer.reason}")
            else:
                rows.append({name: getattr(answer, name) for name in self._columns})
        if refused:
            refuse_request(f"{len(refused)} of {len(texts)} rows are no texts. {'; '.join(refused[:10])}")
        return rows


def _texts(model_input: Any) -> list[object]:
    """The rows of a request as they came; what is no text is refused later, by its row."""
    import pandas as pd

    if isinstance(model_input, pd.DataFrame):
        if TEXT_COLUMN not in model_input.columns:
            columns = ", ".join(map(str, model_input.columns))
            refuse_request(f"a column {TEXT_COLUMN!r} is needed; the request has {columns or 'no column'}")
        model_input = model_input[TEXT_COLUMN]
    if isinstance(model_input, str | bytes):
        refuse_request("a list of texts is needed, and one text came; send [text]")
    rows = list(model_input)
    if len(rows) == 1 and isinstance(rows[0], list):
        rows = rows[0]  # how MLflow hands on {"inputs": ["one", "two"]}, and {"text": ["one", "two"]} in Python
    return [_as_came(row) for row in rows]


def _as_came(row: object) -> object:
    """A row without what pandas and NumPy made of it: null became a NaN."""
    if isinstance(row, str):
        return str(row)  # also of numpy.str_
    return None if isinstance(row, float) and row != row else row
