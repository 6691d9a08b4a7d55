"""`paraphrastic verify`: whether results and their data are what they were."""

import argparse
import sys

from paraphrastic.base.errors import InputError

HELP = "check that results and their data are what they were"
DESCRIPTION = (
    "Compute the digests of results and of the data that they were made from again, and name "
    "the files that are not as results/provenance.json has them."
)
EXAMPLE = """\
example:
  snakemake --cores all results/provenance.json
  paraphrastic verify --results results

A file that differs was changed after it was made, or damaged; Snakemake makes it again once it is deleted.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "--results", default="results", metavar="DIR", help="folder with provenance.json (results)"
    )


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from paraphrastic.report.provenance import verify

    found = verify(options.results)
    for path, cause in found.differing.items():
        print(f"{path}: {cause}")
    for path in found.absent:
        print(f"{path}: is not there, so that nobody can tell", file=sys.stderr)
    if found.differing:
        raise InputError(f"{options.results}: {len(found.differing)} of {found.checked} files differ")
    print(f"{options.results}: {found.same} files are as they were")
