"""Arguments that only the commands of the pipeline have."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.cli.arguments import several

Settings = list[tuple[str, str]]


def named(text: str, example: str, type: Callable[[str], Any] = str) -> tuple[str, Any]:
    """A name and its value, such as seed=2."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not like {example}")
    return name, type(value)


def settings_of(config: Settings) -> dict[str, Any]:
    """Parse the values of `--config`, which are YAML, by their keys."""
    from yaml import YAMLError

    from paraphrastic_pipeline.settings.yaml import read_yaml

    try:
        return {key: read_yaml(value) for key, value in config}
    except (YAMLError, ValueError) as error:
        problem = getattr(error, "problem", error)
        raise InputError(
            f"--config: a value is not as YAML should be, such as models=[en]: {problem}"
        ) from None


CONFIGFILE = several("--configfile", "FILE", "configuration files, as for snakemake", Path)
CONFIG_VALUES = several(
    "--config", "KEY=VALUE", "settings, as for snakemake", lambda text: named(text, "seed=2")
)
