"""`paraphrastic config`: a configuration with all that it leaves out."""

import argparse
import json
import sys

from paraphrastic.base.errors import InputError
from paraphrastic.cli import arguments

HELP = "check a configuration, and print it with all defaults"
DESCRIPTION = (
    "Check a configuration, and print it completed with the defaults of everything that it does not say."
)
EXAMPLE = """\
example:
  paraphrastic config --configfile config/small.yaml
  paraphrastic config --configfile config/paper.yaml mine.yaml --config seed=2 > complete.yaml
  paraphrastic config --configfile config/small.yaml --model de-paper

Run it in the folder of the pipeline. What it prints is a configuration of the same models; with --model it is
the definition of one model, with the values of its recipe.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_configuration(parser)
    parser.add_argument(
        "--model", metavar="NAME", help="print only what this model is made of, which may be one of a study"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of YAML")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    with arguments.needing("pipeline"):
        import yaml

        from paraphrastic.config.check import (
            DEFAULT_CONFIG,
            SCHEMA,
            check_config,
            complete_config,
            read_config,
        )
        from paraphrastic.config.names import undefined

    if not SCHEMA.is_file():
        raise InputError(f"{SCHEMA}: is not a file: run this in the folder of the pipeline")
    files = options.configfile or [DEFAULT_CONFIG]
    config = read_config(files, arguments.given_settings(options))
    checked, _ = check_config(config, schema=SCHEMA)
    if options.model is None:
        shown = complete_config(config, schema=SCHEMA)
    elif options.model in checked["definitions"]:
        shown = checked["definitions"][options.model]
    else:
        raise InputError(f"--model: {undefined(options.model, checked['definitions'])}")
    if options.json:
        print(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        yaml.safe_dump(shown, sys.stdout, sort_keys=False, allow_unicode=True, default_flow_style=None)
