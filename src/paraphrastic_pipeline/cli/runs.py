"""`paraphrastic new`, `config` and `report`: before and after a run of the pipeline."""

import argparse
import json
import re
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError, shown
from paraphrastic.base.files import atomic_output
from paraphrastic.cli import arguments as cli
from paraphrastic_pipeline.cli.arguments import CONFIG_VALUES, CONFIGFILE, Settings, settings_of


def _codes(text: str) -> list[str]:
    codes = text.split("-")
    if not 1 <= len(codes) <= 2 or not all(re.fullmatch("[a-z]{2,3}", code) for code in codes):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a language nor a pair, such as en or en-pl")
    return codes


@cli.command(
    "write a first configuration for your own pairs",
    "Write a commented configuration that trains a model on your own files or on corpora of OPUS.",
    """\
example:
  paste data/sample/tatoeba/tatoeba.deu-eng.eng data/sample/tatoeba/tatoeba.deu-eng.deu > pairs.tsv
  paraphrastic new --languages en-de --corpus pairs.tsv --output mine.yaml
  paraphrastic config --configfile mine.yaml --model de

Run the command in the folder of the pipeline. A file may be TSV, text with tabs, CSV, JSON lines, Parquet
or TMX, plain or compressed. Name the languages in the order of its columns, or name one language for
paraphrases. Two files with one sentence on each line are one corpus: --corpus news.en --target news.pl.
""",
    cli.argument(
        "--languages",
        required=True,
        type=_codes,
        metavar="CODES",
        help="two languages, such as en-pl or eng-pol, or one language for paraphrases",
    ),
    cli.argument(
        "--corpus",
        required=True,
        nargs="+",
        metavar="CORPUS",
        dest="corpora",
        help="files of sentence pairs, or names of corpora of OPUS or of the registry",
    ),
    cli.argument("--target", metavar="FILE", help="file with the other side of the corpus, line by line"),
    cli.several("--columns", "COLUMN", "columns of source and target in the files, by name or number from 1"),
    cli.argument(
        "--score-range",
        nargs=2,
        type=cli.number,
        default=[],
        metavar=("LOW", "HIGH"),
        help="lowest and highest score in the files, if not 0 and 1",
    ),
    cli.output("configuration to write; - for standard output"),
)
def new(
    languages: list[str], corpora: list[str], output: str, target: str | None, **how_to_read: Any
) -> None:
    """A configuration to begin with."""
    from paraphrastic_pipeline.registry.language_labels import shortest_code
    from paraphrastic_pipeline.workflow.starter import starter_configuration

    short = [shortest_code(code) for code in languages]
    if short != languages:
        cli.note(f"the languages {'-'.join(languages)} are {'-'.join(short)} here")
    file = "mine.yaml" if output == "-" else output
    _check_arguments(short, corpora, file, target)
    text = starter_configuration(short, corpora, file, target=target, **how_to_read)
    if output != "-" and Path(output).exists():
        raise InputError(f"{output}: already exists and would be overwritten")
    if output == "-":
        print(text, end="")
    else:
        with atomic_output(output) as temporary:
            temporary.write_text(text, encoding="utf-8")
        # The comments before the first empty one say what was understood.
        for line in text.split("\n#\n")[0].splitlines():
            cli.note(line.removeprefix("# "))
        cli.note(f"wrote {output}; its comments say what to do next")


def _check_arguments(languages: list[str], corpora: list[str], output: str, target: str | None) -> None:
    """Refuse names that no configuration can have."""
    from paraphrastic_pipeline.settings.places import name_fault

    if len(set(languages)) < len(languages):
        pair, code = "-".join(languages), languages[0]
        raise InputError(f"--languages {pair}: for paraphrases, name the language once: --languages {code}")
    if target and len(corpora) > 1:
        raise InputError("--target: is the other side of one corpus, but --corpus names several")
    if len(set(corpora)) < len(corpora):
        raise InputError("--corpus: a corpus is given twice")
    names = [("--output", output), *(("--corpus", corpus) for corpus in corpora), ("--target", target or "-")]
    for option, name in names:
        cause = name_fault(name) if name.strip() else "is empty"
        if option == "--output" and not name.isprintable():
            cause = cause or "has characters that no comment can show"
        if cause:
            raise InputError(f"{option}: {shown(name)} {cause}; give the file another name")


@cli.command(
    "check a configuration and print it with all defaults",
    "Check a configuration, and print it with the defaults of all settings that it leaves out.",
    """\
example:
  paraphrastic config --configfile config/small.yaml
  paraphrastic config --configfile config/paper.yaml mine.yaml --config seed=2 > complete.yaml
  paraphrastic config --configfile config/small.yaml --model de-paper

Run the command in the folder of the pipeline. It prints a configuration of the same models or, with --model,
the definition of one model with the values of its recipe.
""",
    CONFIGFILE,
    CONFIG_VALUES,
    cli.argument(
        "--model", metavar="NAME", help="print only the definition of this model, which may be one of a study"
    ),
    cli.flag("--json", "print JSON instead of YAML", dest="as_json"),
)
def config(configfile: list[Path], config: Settings, model: str | None, as_json: bool) -> None:
    """Print a configuration with the defaults of everything that it leaves out."""
    from paraphrastic_pipeline.settings.check import (
        DEFAULT_CONFIG,
        check_config,
        complete_config,
        read_config,
    )
    from paraphrastic_pipeline.settings.definitions import undefined
    from paraphrastic_pipeline.settings.sections.fields import as_json as json_of
    from paraphrastic_pipeline.settings.yaml import write_yaml

    if not DEFAULT_CONFIG.is_file():
        raise InputError(f"{DEFAULT_CONFIG}: is not a file: run this command in the folder of the pipeline")
    given = read_config(configfile or [DEFAULT_CONFIG], settings_of(config))
    checked, _ = check_config(given)
    if model is None:
        shown = complete_config(given)
    elif model in checked.definitions:
        shown = json_of(checked.definitions[model])
    else:
        raise InputError(f"--model: {undefined(model, checked.definitions)}")
    if as_json:
        text = json.dumps(shown, indent=2, ensure_ascii=False)
        # JSON lets some characters stand as they are that a terminal obeys.
        print(re.sub("[\x7f-\x9f\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text))
    else:
        print(write_yaml(shown), end="")


@cli.command(
    "write a page with the results of a run so far",
    "Write one page with the tables and figures that a run has made so far. The page needs no network.",
    """\
example:
  paraphrastic report --results results --output report.html

This command lists what is missing; `snakemake --cores all results/report.html` makes it first.
""",
    cli.argument(
        "--results", default="results", metavar="DIR", help="folder with the results (default: results)"
    ),
    cli.output("page to write, such as report.html"),
)
def report(results: str, output: str) -> None:
    """Write one page of the results that a run has made so far."""
    from paraphrastic_pipeline.report.page import write_report

    write_report(results, output)
