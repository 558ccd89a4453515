"""The files of registered packages: among the artifacts of the run that a package came from."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from elman.errors import ArtifactError, RegistryError
from elman.packages.package import Package, open_package
from elman.tracking.flavor import PACKAGE, save_flavor


def upload(client: Any, run_id: str, package: Package) -> str:
    """Puts the MLflow model with the package into the run; returns its address.

    The folder is named after the package, so that a second upload of the same one changes nothing.
    """
    folder = f"package-{package.hash[:12]}"
    with TemporaryDirectory() as temporary:
        save_flavor(package, Path(temporary) / folder)
        client.log_artifacts(run_id, str(Path(temporary) / folder), folder)
    return f"{client.get_run(run_id).info.artifact_uri}/{folder}"


def download(source: str, into: Path, *, uri: str, package_hash: str, name: str) -> None:
    """Copies a package, checked, to `into`, which appears whole or not at all; a sound copy that is there is left.

    Args:
        source: What `upload` returned.
        into: The package's folder.
        uri: The store's address.
        package_hash: What `Package.hash` must be.
        name: For messages.

    Raises:
        RegistryError: The files are damaged, or of another package.
    """
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    if into.exists() and _hash_of(into) == package_hash:
        return
    into.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{into.name}-", dir=into.parent) as temporary:
        repository = get_artifact_repository(source, tracking_uri=uri)
        copy = Path(repository.download_artifacts(PACKAGE, temporary))
        try:
            found = open_package(copy).hash
        except ArtifactError as error:
            raise RegistryError(f"{name}: its package is refused: {error}") from None
        if found != package_hash:
            raise RegistryError(
                f"{name}: its files are of another package ({found[:12]}) than was registered ({package_hash[:12]})"
            )
        shutil.rmtree(into, ignore_errors=True)
        copy.rename(into)


def remove(source: str, *, uri: str) -> None:
    """Deletes what `upload` wrote."""
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    get_artifact_repository(source, tracking_uri=uri).delete_artifacts()


def _hash_of(folder: Path) -> str | None:
    try:
        return open_package(folder).hash
    except ArtifactError:
        return None
