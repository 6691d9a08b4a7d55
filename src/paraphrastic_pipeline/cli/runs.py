"""`paraphrastic new`, `config`, `plan` and `report`: before and after a run of the pipeline."""

import argparse
import json
import re
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic.base.threads import available_cores
from paraphrastic.cli import arguments as cli
from paraphrastic_pipeline.cli.arguments import CONFIG_VALUES, CONFIGFILE, Settings, named, settings_of


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
paraphrases. Two files with one sentence on each line, such as news.en and news.pl, are one corpus.
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
    cli.output("configuration to write; - for standard output"),
)
def new(languages: list[str], corpora: list[str], output: str) -> None:
    """A configuration to begin with."""
    from paraphrastic_pipeline.registry.language_labels import shortest_code
    from paraphrastic_pipeline.workflow.starter import starter_configuration

    short = [shortest_code(code) for code in languages]
    if short != languages:
        cli.note(f"the languages {'-'.join(languages)} are {'-'.join(short)} here")
    text = starter_configuration(short, corpora, "mine.yaml" if output == "-" else output)
    if output != "-" and Path(output).exists():
        raise InputError(f"{output}: already exists and would be overwritten")
    if output == "-":
        print(text, end="")
    else:
        with atomic_output(output) as temporary:
            temporary.write_text(text, encoding="utf-8")
        cli.note(f"wrote {output}; its comments say what to do next")


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


def _share(text: str) -> float:
    share = cli.number(text)
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share above 0 and at most 1, such as 0.5")
    return share


@cli.command(
    "estimate what a run takes: jobs, core-hours, disk and memory by step",
    "Estimate what is left to run of a configuration: jobs, processor time, disk and memory by step.\n"
    "The estimate uses measured rates and the sizes of the corpora.",
    """\
example:
  paraphrastic plan --configfile config/config.yaml --cores 2
  paraphrastic plan --all --by model --output plan.csv --targets all paper_tables

Run the command where you would run `snakemake`, which lists the jobs for it. For corpora that are not yet
downloaded, you can give the number of pairs: --pairs opensubtitles=20000000.
""",
    CONFIGFILE,
    CONFIG_VALUES,
    cli.several("--targets", "TARGET", "targets, as for snakemake (default: all)"),
    cli.counted(
        "--cores",
        "cores of the machine, or of all nodes together (default: those of this machine)",
        available_cores(),
    ),
    cli.flag("--all", "include what is already made in the plan", dest="everything"),
    cli.several(
        "--pairs",
        "CORPUS=N",
        "number of pairs of a corpus in each language pair, such as opensubtitles=1000000",
        lambda text: named(text, "opensubtitles=1000000", cli.count),
    ),
    cli.several(
        "--kept",
        "CORPUS=SHARE",
        "share of the pairs of a corpus that the selection keeps, such as paranmt=0.5",
        lambda text: named(text, "paranmt=0.5", _share),
    ),
    cli.choice("--by", ("step", "rule", "model"), "what a row of the table stands for (default: step)"),
    cli.file("--output", "also write the table to this .csv or .json file"),
)
def plan(
    configfile: list[Path],
    config: Settings,
    cores: int,
    pairs: list[tuple[str, int]],
    kept: list[tuple[str, float]],
    by: str,
    output: str | None,
    **planned: Any,
) -> None:
    """Print what a run will take."""
    from paraphrastic_pipeline.workflow.plan import lines_of, make_plan, planned_run, write_plan

    settings = settings_of(config)
    run = planned_run(configfiles=configfile, config=settings, cores=cores, **planned)
    made = make_plan(run, cores=cores, by=by, pairs=dict(pairs), kept=dict(kept))
    if output:
        write_plan(made, output)
    for line in lines_of(made):
        cli.say(line)


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
