"""Merge the selected pairs of a model's corpora: drop duplicates and contaminated pairs, cap and shuffle.

Inputs: selected, contaminated, held_out (one file or none). Outputs: pairs, counts.
"""

from adapter import step
from paraphrastic_pipeline.corpus.database import resources_of
from paraphrastic_pipeline.corpus.merge import Merging, merge_pairs

with step(snakemake):
    settings = ("duplicates", "drop", "max_pairs", "weights", "grouped", "texts")
    merge_pairs(
        snakemake.input.selected,
        snakemake.output.pairs,
        counts=snakemake.output.counts,
        contaminated=snakemake.input.contaminated,
        held_out=next(iter(snakemake.input.get("held_out", [])), None),
        merging=Merging(**{name: snakemake.params[name] for name in settings}),
        seed=snakemake.params.seed,
        **resources_of(snakemake),
    )
