"""Score one run of a sweep on the development data.

Inputs: model (the files of its folder), testsets. Output: score.
"""

from pathlib import Path

from adapter import step
from paraphrastic.base.files import write_json
from paraphrastic.model.folder import open_folder
from paraphrastic_pipeline.evaluation.development import development_score

with step(snakemake):
    model = open_folder(Path(snakemake.input.model[0]).parent)
    write_json(snakemake.output.score, {"pearson": development_score(model, Path(snakemake.input.testsets))})
