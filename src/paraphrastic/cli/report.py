"""`paraphrastic report`: one page of whatever a run has made."""

import argparse

from paraphrastic.cli.arguments import Commands, add_command, extra

_EXAMPLE = """\
example:
  paraphrastic report --results results --output report.html

`snakemake --cores all results/report.html` makes all that is missing first; this command names it.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        _run,
        help="write a page of what a run has made so far",
        description="Write one page, which needs no network, of the tables and figures that are there.",
        example=_EXAMPLE,
    )
    parser.add_argument("--results", default="results", metavar="DIR", help="a run's folder (results)")
    parser.add_argument("--output", required=True, metavar="FILE", help="the page, such as report.html")


def _run(options: argparse.Namespace) -> None:
    with extra("pipeline"):
        from paraphrastic.report.page import write_report
    write_report(options.results, options.output)
