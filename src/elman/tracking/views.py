"""What a person sees first on MLflow's page: saved views, without which its table shows no measure, and colours.

MLflow keeps a view in a tag of the experiment: JSON, deflated, in base64. An MLflow that does not know the form shows
its own table instead.
"""

import base64
import json
import time
import zlib
from collections.abc import Sequence
from typing import Any

# The same in MLflow's charts and in the report; of middling lightness, for light and dark pages.
COLORS = {"simple_rnn": "#d97706", "lstm": "#3b82c4", "gru": "#0d9b76"}

CELLS = "elman-cells"
SEEDS = "elman-seeds"

_TAG_PREFIX = "mlflow.sharedViewState."
# The measures of both tasks: the page leaves out what an experiment has none of.
_MEASURES = ("accuracy", "macro_f1", "perplexity", "perplexity_per_word", "bits_per_byte")
_DECIDING = ("accuracy", "bits_per_byte")  # what the verdict goes by; with more intervals nobody would see the verdict


def view_tags() -> dict[str, str]:
    """Tags for an experiment: a view of the cells with test measures, and one of the seeds in groups by cell."""
    means = [f"test/{name}" for name in _MEASURES]
    intervals = [f"test/{name}{end}" for name in _DECIDING for end in ("_low", "_high")]
    cells = _view(
        "Cells: test measures, mean over seeds with 95 % interval",
        search="tags.`elman.level` = 'parent'",
        metrics=[*means, *intervals],
        params=("parameters",),
        tags=("seeds", "verdict"),
        group_by=None,
    )
    seeds = _view(
        "Seeds: in groups by cell",
        search="tags.`elman.level` = 'seed'",
        metrics=[f"test/{name}" for name in _MEASURES],
        params=(),
        tags=(),
        group_by={"aggregateFunction": "average", "groupByKeys": [{"mode": "tag", "groupByData": "cell"}]},
    )
    return {f"{_TAG_PREFIX}{CELLS}": cells, f"{_TAG_PREFIX}{SEEDS}": seeds}


def view_address(experiment_id: str, view: str, *, server: str = "http://127.0.0.1:5000") -> str:
    """The address that opens a view.

    It asks for MLflow's pages for model training; a browser that was never there before would show those for chats.

    Example:
        >>> view_address("1", CELLS)
        'http://127.0.0.1:5000/#/experiments/1/runs?workflowType=machine_learning&viewStateShareKey=elman-cells'
    """
    return f"{server}/#/experiments/{experiment_id}/runs?workflowType=machine_learning&viewStateShareKey={view}"


def _view(
    name: str,
    *,
    search: str,
    metrics: Sequence[str],
    params: Sequence[str],
    tags: Sequence[str],
    group_by: dict[str, Any] | None,
) -> str:
    columns = [*(f"metrics.`{metric}`" for metric in metrics), *(f"params.`{param}`" for param in params)]
    columns += [f"tags.`{tag}`" for tag in tags]
    state = {
        "searchFilter": search,
        "orderByKey": "attributes.start_time",
        "orderByAsc": False,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": columns,
        "columnOrder": [],
        "columnWidths": {},
        "runsHiddenMode": "FIRST_10_RUNS",
        "viewMaximized": False,
        "runListHidden": False,
        "isAccordionReordered": False,
        "useGroupedValuesInCharts": True,
        "hideEmptyCharts": True,
        "groupBy": group_by,
        "groupsExpanded": {},
        "globalLineChartConfig": {"xAxisKey": "step", "lineSmoothness": 0, "selectedXAxisMetricKey": ""},
    }
    packed = base64.b64encode(zlib.compress(json.dumps(state).encode())).decode()
    now = int(time.time() * 1000)
    return json.dumps({"name": name, "createdAt": now, "updatedAt": now, "state": f"deflate;{packed}"})
