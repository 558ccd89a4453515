"""Two runs of the same seed in two processes, with `compute.deterministic: true`."""

import subprocess
import sys
from pathlib import Path

import keras
import pytest

from elman.config import ClassifierConfig
from elman.models.device import configure_device
from elman.models.spec import ModelSpec
from elman.models.store import build_model
from elman.seeding import generator
from elman.training.loop import fit
from elman.training.objectives import ClassifierObjective
from elman.training.repeat import weight_hash, weights_of_short_training
from tests.helpers.encoded_documents import make_documents


def hashes() -> list[str]:
    """Of a language model and a bidirectional classifier with every kind of dropout, as a process of its own."""
    configure_device(device="cpu", threads=None, mixed_precision=False, deterministic=True)
    first = weight_hash(weights_of_short_training("gru", seed=3))
    config = ClassifierConfig(
        embedding_dim=16, units=32, bidirectional=True, pooling="all", learning_rate=0.01, epochs=2, batch_size=16,
        global_clipnorm=1.0,
    )  # fmt: skip
    spec = ModelSpec(
        task="classifier", cell="lstm", vocab_size=4000, num_classes=3, embedding_dim=16, units=32, bidirectional=True,
        pooling="all", word_dropout=0.1, embedding_dropout=0.3, dropout=0.3, seed=3,
    )  # fmt: skip
    keras.utils.set_random_seed(3)
    documents = make_documents(generator(3, "lengths").integers(2, 60, 100).tolist())
    objective = ClassifierObjective(build_model(spec), config, documents, documents, seed=3)
    fit(objective, config)
    return [first, weight_hash(objective.model.get_weights())]


@pytest.mark.slow
def test_two_processes_with_the_same_seed_end_with_equal_weights():
    code = "import sys; sys.path[:0] = sys.argv[1:]; from test_repeat import hashes; print(*hashes())"
    here = Path(__file__).resolve()
    command = [sys.executable, "-c", code, str(here.parent), str(here.parents[2])]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    one, other = [process.communicate()[0].split() for process in processes]
    assert one == other
    assert len(set(one)) == 2, "of two models"
