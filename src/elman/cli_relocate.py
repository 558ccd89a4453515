"""`elman relocate`: mends the tracking store of a checkout that was moved or copied."""

import json
from pathlib import Path
from typing import Annotated

import typer


def relocate(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output only.")] = False,
) -> None:
    """Make the tracking store find its artifacts after the checkout was moved or copied; run it in the new place."""
    from elman.tracking.relocate import relocate_store

    found = relocate_store(Path())
    places = [str(place) for place in found.places]
    backup = None if found.backup is None else str(found.backup)
    if as_json:
        typer.echo(json.dumps({"places": places, "changed": found.changed, "backup": backup}))
        return
    if backup is None:
        typer.echo("the tracking store names its own place: nothing to mend")
        return
    typer.echo(f"the store looked in {', '.join(places)} and looks here now")
    for table, count in found.changed.items():
        typer.echo(f"  {table}: {count} paths changed")
    typer.echo(f"the file as it was: {backup}")
