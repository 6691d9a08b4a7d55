"""The commands of the pipeline, which `paraphrastic` shows beside its own."""

from paraphrastic_pipeline.cli import runs, training_data

COMMANDS = {
    "train a model": (runs.new, training_data.corpora, runs.config),
    "understand a run": (runs.report,),
}
ENDING = """\
Training itself is run by Snakemake:

  paraphrastic new --languages en-pl --corpus my.tsv --output pl.yaml
  snakemake --cores all --configfile pl.yaml
  paraphrastic embed --model results/models/pl --input sentences.txt --output vectors.npy
"""
