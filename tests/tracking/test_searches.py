import pytest

from elman.tracking.searches import SearchTracker
from elman.tracking.tracker import Tracker


def _search(tracker: Tracker, *, run_id: str | None = None):
    return SearchTracker(tracker).search_run(
        task="classifier", cell="lstm", params={"units": 8}, tags={"hash.data": "ab"}, run_id=run_id
    )


def test_searches_and_trials_have_levels_of_their_own_and_no_tag_of_cells(tracker: Tracker) -> None:
    with _search(tracker) as search:
        for number in range(2):
            with search.trial_run(number=number, params={"units": 8 + number}) as trial:
                trial.log_epoch(1, {"valid/loss": 1.0})
        search.log_metrics({"valid/best_loss": 1.0}, step=2)
    above, below = (tracker.client.get_run(run.run_id) for run in (search, trial))
    assert (above.info.run_name, below.info.run_name) == ("search lstm", "trial 1")
    assert above.data.tags["elman.level"] == "search"
    assert above.data.tags["hash.data"] == "ab"
    assert below.data.tags["elman.level"] == "trial"
    assert below.data.tags["mlflow.parentRunId"] == search.run_id
    assert below.data.params == {"trial": "1", "units": "9"}
    assert {above.info.status, below.info.status} == {"FINISHED"}
    assert not {"cell", "cell_summary", "seed"} & {*above.data.tags, *below.data.tags}


def test_a_second_call_goes_on_with_the_run_of_the_first(tracker: Tracker) -> None:
    with pytest.raises(OSError, match="disk"), _search(tracker) as first:
        raise OSError("disk full")
    assert tracker.client.get_run(first.run_id).info.status == "FAILED"
    assert "elman.error" in first.tags
    with _search(tracker, run_id=first.run_id) as second:
        assert tracker.client.get_run(first.run_id).info.status == "RUNNING"
    assert second.run_id == first.run_id
    assert tracker.client.get_run(first.run_id).info.status == "FINISHED"
    assert "elman.error" not in second.tags


def test_a_run_that_is_not_in_the_store_is_made_anew(tracker: Tracker) -> None:
    with _search(tracker, run_id="0" * 32) as search:
        pass
    assert search.run_id != "0" * 32
