"""What the train stage says of its models: the best epoch of each seed, and the tokenizer from where the models are."""

from pathlib import Path

from elman.artifacts import write_json
from elman.config import load_params
from elman.training.describe import describe_models
from tests.helpers.stage_deps import ROOT


def test_a_language_model_is_described_by_its_lowest_loss_state_and_windows(tmp_path: Path) -> None:
    params = load_params(ROOT / "params.yaml")
    config = params.language_model.model_copy(update={"state": "stream", "window_length": 20})
    out, tokenizer = tmp_path / "models" / "language_model" / "gru", tmp_path / "elsewhere" / "tokenizer"
    write_json(tokenizer / "tokenizer.json", {"vocab_size": 9, "sha256": "3" * 64})
    for seed, losses in {4: [5.5, 4.75, 5.0], 2: [4.875, 6.0]}.items():
        write_json(out / f"seed-{seed}" / "history.json", [{"valid/loss": loss} for loss in losses])
    serving = describe_models(
        out, params=params, config=config, cell="gru", tokenizer=tokenizer, labels=tmp_path / "none.json", seeds=[4, 2]
    )
    assert serving.valid_loss == {4: 4.75, 2: 4.875}
    assert (serving.task, serving.state, serving.window_length) == ("language_model", "stream", 20)
    assert (serving.tokenizer.path, serving.tokenizer.sha256) == ("../../../elsewhere/tokenizer", "3" * 64)
    assert serving.labels is None
