"""`paraphrastic report`: one page of whatever a run has made."""

import argparse

from paraphrastic.cli import arguments

HELP = "write a page of what a run has made so far"
DESCRIPTION = "Write one page, which needs no network, of the tables and figures that are there."
EXAMPLE = """\
example:
  paraphrastic report --results results --output report.html

`snakemake --cores all results/report.html` makes all that is missing first; this command names it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--results", default="results", metavar="DIR", help="a run's folder (results)")
    parser.add_argument("--output", required=True, metavar="FILE", help="the page, such as report.html")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    with arguments.needing("pipeline"):
        from paraphrastic.report.page import write_report
    write_report(options.results, options.output)
