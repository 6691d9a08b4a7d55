"""Packages beside this one that add commands of their own."""

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType


@cache
def plugins() -> tuple[ModuleType, ...]:
    """The modules `cli` of all packages on Python's path whose names begin with `paraphrastic_`.

    Such a module has `COMMANDS` by title, as `cli.COMMANDS` here. It may also have `ENDING`, which ends the
    help of `paraphrastic`, and `sts_scorer`, which opens test sets and yields a function that scores a model.
    """
    # `pkgutil.iter_modules` would look into all packages, which takes longer than the rest of the help.
    names = {
        command.parent.name for folder in sys.path for command in Path(folder).glob("paraphrastic_*/cli")
    }
    return tuple(import_module(f"{name}.cli") for name in sorted(names))
