import json
from datetime import timedelta

from elman.retraining.rollback import rollback
from elman.retraining.status import lines, status
from tests.helpers.retraining import Checkout


def look(checkout: Checkout) -> dict:
    found = status(checkout.root, tools=checkout.tools, clock=lambda: checkout.now)
    assert json.loads(json.dumps(found)) == found, "plain values"
    return found


def test_before_any_run_there_is_no_champion_and_an_alarm(checkout):
    found = look(checkout)
    assert (found["champion"], found["last_success"], found["runs"]) == (None, None, [])
    assert found["alarm"] == "no run has come to its end yet"
    assert "champion: none" in lines(found)
    assert not checkout.places.base.exists()


def test_it_tells_champion_runs_and_what_comes_next(checkout):
    checkout.night()
    checkout.append(40, seed=2)
    checkout.night()
    found = look(checkout)
    assert found["champion"]["number"] == 1
    assert found["champion"]["age_days"] == 1.0
    assert found["champion"]["measure"] == "accuracy"
    assert 0.85 < float(found["champion"]["value"]) < 0.95
    assert [run["result"] for run in found["runs"]] == ["nothing_to_do", "promoted"]
    assert found["next"] == "60 more new rows, or 29.0 more days, or 10 more new rows with drift"
    assert found["alarm"] is None
    checkout.now += timedelta(days=2, hours=1)
    assert "the last success is 2.0 days old" in look(checkout)["alarm"]
    assert lines(look(checkout))[-1].startswith("ALARM: ")


def test_a_failed_run_is_no_success_and_an_interrupted_one_is_gone_on_with(checkout):
    checkout.fail = SystemExit(143)
    checkout.night()
    found = look(checkout)
    assert found["interrupted"] is not None
    assert "goes on with the training" in found["next"]
    assert found["last_success"] is None
    assert (found["runs"][0]["exit_code"], found["runs"][0]["stage"]) == (143, "pipeline")


def test_rollback_brings_the_champion_before_back_and_writes_that_down(checkout):
    checkout.night()
    checkout.append(150, seed=2)
    checkout.next_accuracy = 0.95
    checkout.night()
    checkout.now += timedelta(hours=5)
    outcome = rollback(checkout.root, tools=checkout.tools, clock=lambda: checkout.now)
    assert (outcome.result, outcome.exit_code) == ("rolled_back", 0)
    assert outcome.message == "version 1 is the champion again, version 2 was"
    assert checkout.registry.aliases == {"champion": 1}
    assert checkout.decisions == ["promoted", "promoted", "rolled_back"]
    assert look(checkout)["runs"][0]["result"] == "rolled_back"
    assert checkout.night().exit_code == 11, "what was rolled back is not made again from the same input"
    outcome = rollback(checkout.root, tools=checkout.tools, clock=lambda: checkout.now)
    assert (outcome.exit_code, outcome.stage) == (50, "rollback")
