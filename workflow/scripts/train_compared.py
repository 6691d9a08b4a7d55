"""Train a model for the comparison, and score it on STS 2012-2016 in the course of training.

Inputs: dataset, sentencepiece, vectors (none or one), testsets. Outputs: the model's files, history, curve.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.evaluation.comparison import write_curve_of_run
from paraphrastic_pipeline.evaluation.development import average_in_training
from paraphrastic_pipeline.training.beginning import TrainingInputs
from paraphrastic_pipeline.training.train import Development, train_model
from paraphrastic_pipeline.training.warm_up import compile_kernels

with step(snakemake):
    params, output = snakemake.params, Path(snakemake.output.weights).parent
    inputs = TrainingInputs.of_rule(snakemake.input, params.settings, params.architecture, params.about)
    scored = Development(average_in_training, Path(snakemake.input.testsets), params.every)
    compile_kernels(inputs, threads=snakemake.threads)
    train_model(inputs, output, threads=snakemake.threads, development=scored)
    write_curve_of_run(output, Path(snakemake.output.curve), threads=snakemake.threads)
