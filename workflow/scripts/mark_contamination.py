"""Find the pairs of a corpus that are in a test set.

Inputs: selected, sentences (of the test sets), held_out (one file or none). Outputs: contaminated, counts,
examples (for reading).
"""

from adapter import step
from paraphrastic_pipeline.corpus.contamination import mark_contamination

with step(snakemake):
    mark_contamination(
        snakemake.input.selected,
        snakemake.input.sentences,
        snakemake.output.contaminated,
        counts=snakemake.output.counts,
        examples=snakemake.output.examples,
        held_out=next(iter(snakemake.input.get("held_out", [])), None),
        seed=snakemake.params.seed,
    )
