"""Convert training data of the original code to the format of this project.

Inputs: hdf5, vocabulary, sentencepiece. Outputs: dataset, sentencepiece, counts.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.training.dataset_import import import_dataset

with step(snakemake):
    import_dataset(
        *(Path(snakemake.input[name]) for name in ("hdf5", "vocabulary", "sentencepiece")),
        *(Path(snakemake.output[name]) for name in ("dataset", "sentencepiece", "counts")),
    )
