"""The MLflow model around a package: what makes it a thing that MLflow can register, show and serve.

There is no pickle in it. MLflow's pyfunc flavour takes the name of a module that loads a folder (`loader_module`)
instead, and that module is ours.
"""

import os
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from elman.packages.package import Package

TEXT_COLUMN = "text"
PACKAGE = "data/package"  # below the MLflow model; MLflow's own name for what a flavour loads is "data"

_LOADER = "elman.served_model"
_EXAMPLES = ["wheat exports rose for the third month", ""]


def save_flavor(package: Package, folder: Path) -> None:
    """Writes an MLflow model with the package inside into a folder that does not exist yet.

    Args:
        package: A package that `open_package` took.
        folder: Where to.
    """
    os.environ.setdefault("MLFLOW_UV_AUTO_DETECT", "false")  # or the current folder's uv project would go in too
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of MLflow about types of its own
        import mlflow.pyfunc

    with TemporaryDirectory() as temporary:
        named = Path(temporary) / Path(PACKAGE).name  # MLflow copies a folder under its own name
        named.symlink_to(package.folder.resolve(), target_is_directory=True)
        mlflow.pyfunc.save_model(
            path=str(folder),
            loader_module=_LOADER,
            data_path=str(named),
            signature=_signature(package.task),
            input_example={TEXT_COLUMN: _EXAMPLES},
            pip_requirements=_requirements(package),
            metadata={"package_hash": package.hash, "task": package.task, "cell": package.cell, "seed": package.seed},
        )


def refuse_request(reason: str) -> NoReturn:
    """Raises what MLflow's server answers with status 400 and this reason."""
    from mlflow.exceptions import MlflowException

    raise MlflowException.invalid_parameter_value(reason)


def _signature(task: str) -> Any:
    from mlflow.models import ModelSignature
    from mlflow.types.schema import AnyType, ColSpec, DataType, Map, Schema

    # Any, though texts are needed: of a string column MLflow's server makes texts out of null ("None") and 5 ("5")
    # before the model sees them, and they would get an answer instead of an error.
    inputs = Schema([ColSpec(AnyType(), TEXT_COLUMN)])
    if task == "classifier":
        columns: dict[str, Any] = {"label": DataType.string, "probability": DataType.double}
        columns |= {"probabilities": Map(DataType.double)}
    else:
        columns = {"nll_nats": DataType.double, "perplexity": DataType.double, "bits_per_byte": DataType.double}
        columns |= {"num_tokens": DataType.long}
    outputs = Schema([ColSpec(kind, name, required=name != "perplexity") for name, kind in columns.items()])
    return ModelSignature(inputs=inputs, outputs=outputs)


def _requirements(package: Package) -> list[str]:
    return [f"{name}=={version}" for name, version in package.manifest.versions.items() if name != "python"]
