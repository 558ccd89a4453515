import base64
import json
import zlib

from elman.tracking.views import CELLS, SEEDS, view_address, view_tags


def _state(key: str) -> dict:
    """What MLflow's page reads out of the tag."""
    view = json.loads(view_tags()[f"mlflow.sharedViewState.{key}"])
    kind, packed = view["state"].split(";")
    assert kind == "deflate"
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def test_the_view_of_cells_shows_parents_with_the_interval_and_the_verdict_that_decide() -> None:
    state = _state(CELLS)
    assert state["searchFilter"] == "tags.`elman.level` = 'parent'"
    columns = state["selectedColumns"]
    assert {
        f"metrics.`test/{name}{end}`" for name in ("accuracy", "bits_per_byte") for end in ("", "_low", "_high")
    } <= {*columns}
    assert {"tags.`seeds`", "tags.`verdict`"} <= {*columns}
    assert state["groupBy"] is None


def test_the_view_of_seeds_groups_them_by_cell() -> None:
    state = _state(SEEDS)
    assert state["searchFilter"] == "tags.`elman.level` = 'seed'"
    assert state["groupBy"]["groupByKeys"] == [{"mode": "tag", "groupByData": "cell"}]


def test_an_address_opens_the_pages_for_training() -> None:
    address = view_address("7", SEEDS, server="http://127.0.0.1:5001")
    assert address.startswith("http://127.0.0.1:5001/#/experiments/7/runs?workflowType=machine_learning&")
    assert address.endswith("viewStateShareKey=elman-seeds")
