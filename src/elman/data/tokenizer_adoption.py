"""A SentencePiece model that was trained elsewhere, as a tokenizer's folder."""

from pathlib import Path

from sentencepiece import sentencepiece_model_pb2

from elman.artifacts import sha256_file, write_json
from elman.data.tokenizer import METADATA_FILE, MODEL_FILE, VERSION, Tokenizer
from elman.errors import TokenizerError

_KINDS = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


def adopt_tokenizer(path: Path, folder: Path) -> Tokenizer:
    """Writes tokenizer.model and tokenizer.json to `folder`, and loads them.

    Raises:
        TokenizerError: The file is missing or no SentencePiece model, its special ids are not pad 0, unk 1, bos 2, eos
            3, or it is a word model, which is encoded in another way here.
    """
    if not path.is_file():
        raise TokenizerError(f"{path}: no such file")
    serialized = path.read_bytes()
    try:
        Tokenizer(serialized, model="unigram", source=str(path))
    except TokenizerError as error:
        message = str(error).split("; this model has")
        if len(message) == 1:
            raise
        raise TokenizerError(
            f"{message[0]}; this model has{message[1].split('. Train')[0]}. Train it with SentencePiece's options "
            "--pad_id=0 --unk_id=1 --bos_id=2 --eos_id=3, and the model on its ids"
        ) from None
    proto = sentencepiece_model_pb2.ModelProto.FromString(serialized)
    kind = _KINDS[proto.trainer_spec.model_type]
    if kind == "word":
        raise TokenizerError(
            f"{path}: a word model: SentencePiece makes one unk of neighbouring unknown words, and one of each is made "
            "here, so that the model would read other ids"
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MODEL_FILE).write_bytes(serialized)
    metadata = {
        "version": VERSION,
        "model": kind,
        "vocab_size": len(proto.pieces),
        "requested_vocab_size": proto.trainer_spec.vocab_size,
        "character_coverage": round(proto.trainer_spec.character_coverage, 6),
        "byte_fallback": proto.trainer_spec.byte_fallback,
        "normalization": proto.normalizer_spec.name,
        "sha256": sha256_file(folder / MODEL_FILE),
    }
    write_json(folder / METADATA_FILE, metadata)
    return Tokenizer.load(folder)
