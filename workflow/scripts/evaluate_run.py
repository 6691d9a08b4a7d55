"""Score one run of a sweep on the development data.

Inputs: model (the files of its folder), held_out and testsets (one file each or none). Output: score.
"""

from pathlib import Path

from adapter import step
from paraphrastic.base.files import write_json
from paraphrastic.model.folder import open_folder
from paraphrastic_pipeline.evaluation.development import DevelopmentData

with step(snakemake):
    data = DevelopmentData.of_rule(snakemake.input, snakemake.params.choose_by)
    write_json(snakemake.output.score, data.scores(open_folder(Path(snakemake.input.model[0]).parent)))
