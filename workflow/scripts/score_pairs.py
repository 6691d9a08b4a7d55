"""Label the pairs of a corpus with lengths, languages, overlap and paraphrase score.

Inputs: pairs, language_id, punkt (the last two may be empty). Output: scored.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.corpus.score import TextSettings, score_pairs

with step(snakemake):
    score_pairs(
        snakemake.input.pairs,
        snakemake.output.scored,
        languages=tuple(snakemake.wildcards.pair.split("-")),
        identifier=next(map(Path, snakemake.input.language_id), None),
        punkt=next(map(Path, snakemake.input.punkt), None),
        text=TextSettings(
            **snakemake.params.preparation,
            words=snakemake.params.words,
            identify=snakemake.params.identify,
            overlap_tokenizer=snakemake.params.overlap_tokenizer,
        ),
        shard=tuple(map(int, snakemake.wildcards.scatteritem.split("-of-"))),
    )
