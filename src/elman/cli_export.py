"""`elman export` and `elman import-torch`: models to and from other programs.

TensorFlow is loaded by the commands, not by this module.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from elman.cli_texts import found_named
from elman.errors import ConversionError
from elman.stages import load_tensorflow

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]


def export(
    model: Annotated[
        str,
        typer.Argument(
            help="A cell (its best seed on validation), a folder of a model or package, or models:/NAME@champion."
        ),
    ],
    out: Annotated[Path, typer.Argument(help="The folder to write; must not be there yet.")],
    form: Annotated[
        str,
        typer.Option("--format", help="onnx (ids in), savedmodel (TensorFlow, strings in) or litert (ids in)."),
    ],
    models: Annotated[Path, typer.Option(help="The folder with the models of each task.")] = Path("models"),
    as_json: JsonOption = False,
) -> None:
    """Write a trained model for programs that do not have elman."""
    from elman.exporting.formats import check_installed

    check_installed(form)
    with found_named(model, models, task=None) as found:
        load_tensorflow()
        from elman.exporting.export import export_model

        about = export_model(found, out, form=form)  # type: ignore[arg-type]
    if as_json:
        typer.echo(json.dumps(about, ensure_ascii=False))
        return
    typer.echo(f"{out}: {about['task'].replace('_', ' ')} {about['cell']} of seed {about['seed']}, {form}")
    for kind in ("inputs", "outputs"):
        for name, port in about[kind].items():
            axes = ", ".join(str(axis) for axis in port["axes"])
            typer.echo(f"  {kind[:-1]:<6} {name}: {port['type']} ({axes})")
    difference = about["largest_difference_from_keras"]
    if difference is None:
        typer.echo("  not compared with Keras: onnxruntime is not installed")
    else:
        typer.echo(f"  largest difference from Keras on sample rows: {difference:.1g}")


def import_torch(
    weights: Annotated[Path, typer.Argument(help="A PyTorch state dict as .safetensors, or arrays as .npz.")],
    out: Annotated[Path, typer.Argument(help="The folder to write; must not be there yet.")],
    tokenizer: Annotated[Path, typer.Option(help="The SentencePiece model, x.model.")],
    labels: Annotated[
        str | None, typer.Option(help="Classifier: names of the classes by number, as a,b,c. Without: language model.")
    ] = None,
    pooling: Annotated[
        str, typer.Option(help="Classifier: what its last layer reads: last, mean, max or all three side by side.")
    ] = "last",
    max_length: Annotated[int, typer.Option(help="Classifier: tokens of a text that are read, eos included.")] = 256,
    embedding: Annotated[str | None, typer.Option(help="Name of the embedding's weight.")] = None,
    recurrent: Annotated[str | None, typer.Option(help="What the recurrent weights' names begin with, as rnn.")] = None,
    linear: Annotated[str | None, typer.Option(help="Name of the last layer's weight.")] = None,
    unicode_form: Annotated[str, typer.Option(help="Cleaning: none, NFC, NFD, NFKC or NFKD.")] = "none",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Cleaning: lower case.")] = False,
    whitespace: Annotated[str, typer.Option(help="Cleaning: keep or collapse.")] = "keep",
) -> None:
    """Make a PyTorch model of embedding, RNN, LSTM or GRU, and linear layer one that elman loads."""
    from elman.importing.weights_file import read_weights

    arrays = read_weights(weights)  # before TensorFlow is loaded: a wrong file is said at once
    load_tensorflow()
    from elman.importing.state_dict import Names
    from elman.importing.torch_model import import_state_dict

    names = tuple(name.strip() for name in labels.split(",")) if labels is not None else None
    if names is not None and (len(set(names)) < 2 or len(set(names)) != len(names) or not all(names)):
        raise ConversionError(f"--labels: two or more different names are needed, as a,b,c, but came {labels!r}")
    model = import_state_dict(
        arrays,
        out,
        tokenizer=tokenizer,
        labels=names,
        pooling=pooling,
        max_length=max_length,
        names=Names(embedding=embedding, recurrent=recurrent, linear=linear),
        cleaning={"unicode_form": unicode_form, "lowercase": lowercase, "whitespace": whitespace},
    )
    words = "bidirectional " if model.bidirectional else ""
    typer.echo(
        f"{out}: {words}{model.cell} {model.task.replace('_', ' ')}, layers: {model.num_layers}, units: {model.units}, "
        f"pieces: {model.vocab_size}; elman.load({str(out)!r})"
    )
