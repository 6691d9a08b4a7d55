"""The commands of the pipeline, which `paraphrastic` shows beside its own."""

import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from paraphrastic.cli.arguments import needing
from paraphrastic_pipeline.cli import inspection, runs, training_data

if TYPE_CHECKING:
    from paraphrastic.model.encoder import SentenceEncoder

COMMANDS = {
    "train a model": (runs.new, training_data.corpora, training_data.licences, runs.config, runs.plan),
    "understand a run": (
        inspection.inspect,
        training_data.negatives,
        runs.report,
        runs.verify,
        training_data.links,
    ),
}
ENDING = """\
Training itself is run by Snakemake:

  paraphrastic new --languages en-pl --corpus my.tsv --output pl.yaml
  snakemake --cores all --configfile pl.yaml
  paraphrastic embed --model results/models/pl --input sentences.txt --output vectors.npy
"""


@contextmanager
def sts_scorer(path: str) -> "Iterator[Callable[[SentenceEncoder], float]]":
    """Yield what scores a model on STS 2012–2016, by Pearson's r × 100.

    Args:
        path: the Parquet file of `prepare_sts`, or the archive that it reads.
    """
    with needing("pipeline"):
        from paraphrastic_pipeline.evaluation.development import average_score
        from paraphrastic_pipeline.evaluation.sts_data import prepare_sts

    with tempfile.TemporaryDirectory() as folder:
        testsets = Path(path)
        if zipfile.is_zipfile(path):
            testsets = Path(folder, "sts.parquet")
            prepare_sts(Path(path), testsets)
        yield partial(average_score, testsets=testsets)
