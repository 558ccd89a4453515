"""What `elman doctor` says of the tracking store: reachable, sound, in its place, and nothing waiting for it."""

from pathlib import Path
from typing import Any, NamedTuple

from elman.errors import TrackingError
from elman.tracking import store
from elman.tracking.relocate import other_places
from elman.tracking.replay import replay_left, replayed_words
from elman.tracking.spool import FOLDER as SPOOL
from elman.tracking.spool import Spool
from elman.tracking.spool_file import REFUSED
from elman.tracking.trouble import advice, damage


class StoreHealth(NamedTuple):
    """What was found.

    Attributes:
        address: The store's, without a password.
        said: What a person is told, a line each.
        problems: What has to be mended; empty where all is right.
    """

    address: str
    said: tuple[str, ...]
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {"address": self.address, "said": list(self.said), "problems": list(self.problems)}


def check_store(root: Path) -> StoreHealth:
    """Looks at the store of a checkout, and writes what waits for it.

    Makes nothing where there is no store yet, and loads MLflow only where it is needed.

    Args:
        root: The checkout.
    """
    uri = store.store_uri(root)
    address, own = store.shown(uri), store.is_own_store(uri, root)
    if own and not store.own_file(root).is_file():
        return StoreHealth(address, ("no tracking store here yet",), ())
    problems = _problems_of_file(root) if own else []
    said: list[str] = []
    spool = Spool(root.resolve() / store.FOLDER / SPOOL, store=store.spool_name(uri, root))
    if not problems and (not own or any(spool.folder.glob("[!.]*.jsonl"))):
        try:
            said += _replay(uri, spool)
        except TrackingError as error:
            problems.append(str(error))
    for path in sorted((spool.folder / REFUSED).glob("*.jsonl")):
        problems.append(
            f"{path}: entries that the store did not take, each with its reason; delete the file when you have seen it"
        )
    waiting = len(list(spool.folder.glob("[!.]*.jsonl")))
    if waiting:
        said.append(f"{waiting} files in {spool.folder} wait for their store, or belong to a job that is at work")
    return StoreHealth(address, tuple(said), tuple(problems))


def _problems_of_file(root: Path) -> list[str]:
    file = store.own_file(root)
    if wrong := damage(file):
        return [f"{wrong}. {advice(f'sqlite:///{file}', ValueError('malformed'))}"]
    return [
        f"{file} looks for artifacts in {place}, not in {root.resolve() / store.FOLDER}: the checkout was moved or "
        "copied; run `elman relocate` here"
        for place in other_places(root)
    ]


def _replay(uri: str, spool: Spool) -> list[str]:
    client = store.open_client(uri)
    with store.reported(uri):
        client.search_experiments(max_results=1)
    done = replay_left(client, uri, spool)
    return replayed_words(done._replace(refused=()))  # those are among the problems
