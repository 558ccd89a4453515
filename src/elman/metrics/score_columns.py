"""The columns of scores.parquet, a row a document and seed: what paired tests read, whatever model was scored."""

import pyarrow as pa

NO_SEED = 0  # in the column `seed` of a model that draws nothing at random

CLASSIFIER_SCORES = pa.schema(
    [
        ("seed", pa.int32()),
        ("id", pa.int64()),
        ("label", pa.int32()),
        ("predicted", pa.int32()),
        ("probability", pa.float32()),  # of the predicted class
        ("nll_nats", pa.float64()),  # of the label
    ]
)
LANGUAGE_MODEL_SCORES = pa.schema(
    [
        ("seed", pa.int32()),
        ("id", pa.int64()),
        ("nll_nats", pa.float64()),  # summed over the document's targets
        ("num_tokens", pa.int32()),
        ("num_words", pa.int32()),  # and one eos, as in the perplexity block
        ("num_bytes", pa.int64()),
    ]
)
