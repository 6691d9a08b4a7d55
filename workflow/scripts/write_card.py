"""Write the card of a model.

Inputs: config (of the model), sweep, counts, results, held_out, tokenizer (some may be empty).
Output: card.
"""

from pathlib import Path

from adapter import step
from paraphrastic_pipeline.report.card import write_card

with step(snakemake):
    write_card(
        Path(snakemake.input.config).parent,
        Path(snakemake.input.counts),
        [Path(result) for result in snakemake.input.results],
        Path(snakemake.output.card),
        corpora=snakemake.params.corpora,
        unknown=snakemake.params.unknown,
        held_out=[Path(result) for result in snakemake.input.held_out],
        loads_elsewhere=bool(snakemake.input.tokenizer),
    )
