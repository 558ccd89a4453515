"""The columns of files with scores, which one stage writes and others read, whatever model was scored.

scores.parquet has a row a document and seed, for paired tests; tokens.parquet a row a token, for mixtures.
"""

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
LANGUAGE_MODEL_TOKENS = pa.schema(
    [
        ("split", pa.dictionary(pa.int8(), pa.string())),
        ("token_id", pa.int32()),  # in the order of the encoded split: shows that two models read the same tokens
        ("log_probability", pa.float64()),  # nats
    ]
)
