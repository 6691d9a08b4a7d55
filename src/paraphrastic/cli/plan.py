"""`paraphrastic plan`: what a run will take, before it is run."""

import argparse
import os

from paraphrastic.cli import arguments

HELP = "say what a run will take: jobs, core-hours, disk and memory by step"
DESCRIPTION = (
    "Say what is left to run of a configuration, and what it takes: jobs, processor time, "
    "disk and memory by step, by rates that were measured and the sizes of the corpora."
)
EXAMPLE = """\
example:
  paraphrastic plan --configfile config/config.yaml --cores 2
  paraphrastic plan --all --by model --output plan.csv --targets all paper_tables

Plan where you would run `snakemake`, which is asked for the jobs. How large corpora are that are still to be
downloaded can be said: --pairs opensubtitles=20000000.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_configuration(parser)
    parser.add_argument(
        "--targets", nargs="+", default=[], metavar="TARGET", help="as snakemake takes them (all)"
    )
    parser.add_argument(
        "--cores",
        type=arguments.count,
        default=os.cpu_count() or 1,
        metavar="N",
        help="cores of the machine, or of all nodes together (those of this machine)",
    )
    parser.add_argument("--all", action="store_true", help="plan what is there already, too")
    parser.add_argument(
        "--pairs",
        nargs="+",
        default=[],
        type=_pairs,
        metavar="CORPUS=N",
        help="how many pairs a corpus has in each of the languages that it is used in",
    )
    parser.add_argument(
        "--kept",
        nargs="+",
        default=[],
        type=_share,
        metavar="CORPUS=SHARE",
        help="share of a corpus's pairs that the selection keeps, such as paranmt=0.5",
    )
    parser.add_argument(
        "--by",
        choices=("step", "rule", "model"),
        default="step",
        help="what the rows are: step, rule or model (step)",
    )
    parser.add_argument("--output", metavar="FILE", help="write the table as .csv or .json, too")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    with arguments.needing("pipeline"):
        from paraphrastic.pipeline.run_plan.jobs import planned_run
        from paraphrastic.pipeline.run_plan.summary import lines_of, make_plan, write_plan

        run = planned_run(
            configfiles=options.configfile,
            config=arguments.given_settings(options),
            targets=options.targets,
            cores=options.cores,
            everything=options.all,
        )
    plan = make_plan(
        run, cores=options.cores, by=options.by, pairs=dict(options.pairs), kept=dict(options.kept)
    )
    if options.output:
        write_plan(plan, options.output)
    print("\n".join(lines_of(plan)))


def _pairs(text: str) -> tuple[str, int]:
    name, value = arguments.named(text, "opensubtitles=1000000")
    return name, arguments.count(value)


def _share(text: str) -> tuple[str, float]:
    name, value = arguments.named(text, "paranmt=0.5")
    try:
        share = float(value)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{value!r} is not a share above 0, such as 0.5")
    return name, share
