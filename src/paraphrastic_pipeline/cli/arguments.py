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
    import yaml

    from paraphrastic_pipeline.base.yaml_bounds import RefusedError
    from paraphrastic_pipeline.base.yaml_text import read_yaml

    try:
        return {key: read_yaml(value) for key, value in config}
    except RefusedError as error:
        raise InputError(f"--config: {error.problem}") from None
    except (yaml.YAMLError, ValueError):
        raise InputError("--config: a value is not valid YAML; an example is models=[en]") from None


CONFIGFILE = several("--configfile", "FILE", "configuration files, as for snakemake", Path)
CONFIG_VALUES = several(
    "--config", "KEY=VALUE", "settings, as for snakemake", lambda text: named(text, "seed=2")
)
