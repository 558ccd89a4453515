"""`models:/<name>@<alias>` and `models:/<name>/<version>`: a registered package by its address."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from elman.errors import RegistryError
from elman.tracking import store
from elman.tracking.registry import Registry

SCHEME = "models:/"

_ADDRESS = re.compile(r"models:/+(?P<name>[^/@:'\"]+)(?:@(?P<alias>[\w-]+)|/(?P<number>[0-9]+))")


@contextmanager
def fetched(address: str, *, root: Path) -> Iterator[Path]:
    """The package that an address means, in a folder that goes with the block.

    Args:
        address: Such as `models:/reuters-r8 classifier@champion` or `models:/reuters-r8 classifier/3`.
        root: The checkout whose store is asked, where MLFLOW_TRACKING_URI names no other.

    Raises:
        RegistryError: The address is of another form, or names nothing.
        TrackingError: The store cannot be reached.
    """
    parts = _ADDRESS.fullmatch(address)
    if parts is None:
        raise RegistryError(f"{address!r}: a registered model is models:/<name>@<alias> or models:/<name>/<version>")
    uri = store.store_uri(root)
    if store.is_own_store(uri, root) and not (root.resolve() / store.FOLDER / "mlflow.db").is_file():
        raise RegistryError(f"{store.shown(uri)}: no tracking store here, so that {address!r} cannot be looked up")
    client = store.open_client(uri)
    with store.reported(uri):
        found = client.search_registered_models(f"name = '{parts['name']}'")
        known = [model.name for model in found or client.search_registered_models()]
    if parts["name"] not in known:
        raise RegistryError(
            f"{address!r}: nothing of this name is registered in {store.shown(uri)}; it holds "
            f"{', '.join(sorted(known)) or 'no models'}"
        )
    registry = Registry(client, uri=uri, root=root, name=parts["name"])
    with TemporaryDirectory(prefix="elman-") as folder:
        yield registry.fetch(parts["alias"] or parts["number"], Path(folder))
