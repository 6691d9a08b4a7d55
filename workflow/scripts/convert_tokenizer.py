"""Let sentence-transformers and model2vec load a model's folder.

Inputs: sentencepiece, config (of the model). Outputs: tokenizer, modules, in the same folder.
"""

from pathlib import Path

from adapter import step
from paraphrastic.interop.tokenizer import complete_folder

with step(snakemake):
    complete_folder(Path(snakemake.output.tokenizer).parent)
