"""How a stage script ends: quietly when it worked, else with one clear message and the error's own exit code."""

import gc
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from elman.errors import ElmanError
from elman.storage import storage_error


def quiet_tensorflow() -> None:
    """Keeps TensorFlow's notes about the machine off the screen, unless the user asked for them; before its import.

    On a machine without an NVIDIA device it reports, as errors, that it finds none; the plan says it better.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1" if Path("/dev/nvidia0").exists() else "3")


def load_tensorflow() -> None:
    """Imports TensorFlow and Keras in a process of our own, with no search for garbage in what they make.

    They make objects by the hundred thousand that live as long as the process. Python's collector would go through them
    again and again while they are made, and through all of them from time to time after; so it waits, and leaves them
    out for good. Not for a library: the collector belongs to the program that calls it, and so do the objects which are
    there already.
    """
    quiet_tensorflow()
    if "keras" in sys.modules:
        return
    was_on = gc.isenabled()
    gc.disable()
    try:
        importlib.import_module("keras")  # by its name, as in elman/__init__.py; it imports TensorFlow
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def run_stage(name: str, main: Callable[[], None]) -> None:
    """Runs `main`; an error raised on purpose is printed without a traceback, any other one with it.

    A full or read-only disk and a missing permission are told like errors raised on purpose. The last line on standard
    error names the stage that failed, so that a scheduled job's log says where to look.
    """
    quiet_tensorflow()
    try:
        main()
    except ElmanError as error:
        _fail(name, error)
    except Exception as error:
        known = storage_error(error)
        if known is None:
            print(f"stage {name} failed", file=sys.stderr)  # noqa: T201
            raise
        _fail(name, known)


def _fail(name: str, error: ElmanError) -> NoReturn:
    print(f"error: {error}\nstage {name} failed ({type(error).__name__})", file=sys.stderr)  # noqa: T201
    sys.exit(error.exit_code)
