import pytest

from elman.models.device import DevicePlan
from elman.models.spec import ModelSpec
from elman.models.store import build_model
from elman.training.plan import make_plan, plan_lines

CPU = DevicePlan(kind="cpu", name="all threads", precision="float32", deterministic=False)


def plan(**changes) -> dict:
    base = {"task": "classifier", "cell": "lstm", "vocab_size": 30, "num_classes": 3, "embedding_dim": 6, "units": 5}
    return make_plan(build_model(ModelSpec(**base | {"seed": 1} | changes)), CPU)


def test_an_option_that_switches_the_fast_kernel_off_is_named_with_its_value():
    layer = plan(recurrent_dropout=0.1)["layers"][0]
    assert layer["kernel"] == "generic loop"
    assert "recurrent_dropout 0.1" in layer["reason"]
    assert plan()["layers"][0]["kernel"] == "CPU kernel"


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("forget_bias", [0.0, 1.0, 2.5])
def test_the_forget_bias_that_the_gate_sees_is_recorded(forget_bias, bidirectional):
    layer = plan(forget_bias=forget_bias, bidirectional=bidirectional)["layers"][0]
    assert layer["forget_bias"] == pytest.approx(forget_bias)


def test_the_printed_plan_names_device_parameters_and_the_kernel_of_every_layer():
    shown = plan(num_layers=2)
    lines = plan_lines(shown)
    assert f"{shown['parameters']:,} parameters" in lines[0]
    assert "on cpu" in lines[0]
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["lstm_1", "lstm_2"]


def test_units_that_were_chosen_are_printed_with_the_cell_they_follow():
    spec = ModelSpec(task="language_model", cell="gru", vocab_size=30, embedding_dim=6, units=7)
    model = build_model(spec)
    assert (
        "7 units (chosen to have as many parameters as lstm)" in plan_lines(make_plan(model, CPU, equal_to="lstm"))[0]
    )
    assert plan_lines(make_plan(model, CPU, equal_to="gru"))[0].endswith("7 units")
    assert plan_lines(make_plan(model, CPU))[0].endswith("7 units")
