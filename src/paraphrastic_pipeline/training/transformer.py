"""Train Transformers: their tokens as training data, and their modules as an encoder of `Sentences`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from paraphrastic.base.arrays import Float32
from paraphrastic.base.files import sha256
from paraphrastic.model.architecture import TOKENS, Transformer
from paraphrastic.model.transformer import TransformerEncoder, write_transformer
from paraphrastic.model.transformer_tokens import padded, tokenize, tokenizer_digest
from paraphrastic_pipeline.training.dataset import (
    PAIRS,
    SIDES,
    append_sentences,
    create_side,
    new_dataset,
    read_sides,
    write_pieces,
)
from paraphrastic_pipeline.training.engine import Weights
from paraphrastic_pipeline.training.inputs import Initialization, TrainingInputs
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.transformer_modules import load_modules, load_tokenizer

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def tokenize_pairs(
    pairs: Path,
    dataset: Path,
    *,
    architecture: Mapping[str, Any],
    lowercase: bool = False,
    grouped: bool = False,
    texts: Sequence[int] = (),
    batch_rows: int = 65_536,
) -> None:
    """Cut `pairs` into a Transformer's tokens, and write them as training data; see `training.dataset`.

    The rows of the table are the tokenizer's ids.

    Args:
        pairs: Parquet with the columns `source` and `target`, and also `groups` if `grouped`.
        dataset: the HDF5 file.
        architecture: the fields of the `Architecture` with the Transformer whose tokenizer is used.
        lowercase: whether sentences are lower-cased.
        grouped: whether it is known which groups of sentences that mean the same the pairs are in.
        texts: numbers in the column `corpus` of corpora without pairs, whose lines are both sides of a pair.
        batch_rows: pairs held in memory at a time; the output does not depend on it.

    Raises:
        InputError: the extra `neural` is not installed, or the tokenizer cannot be loaded.
    """
    transformer = Transformer(**architecture["transformer"])
    tokenizer = load_tokenizer(transformer, lowercase=lowercase)
    digest = tokenizer_digest(tokenizer)
    with new_dataset(dataset) as file:
        file.attrs[PAIRS] = sha256(pairs)
        unit = file.create_group(TOKENS)
        for side in SIDES:
            create_side(unit, side)
        for sentences in read_sides(pairs, file, grouped=grouped, texts=texts, batch_rows=batch_rows):
            for side, column in zip(SIDES, sentences, strict=True):
                tokens = tokenize(tokenizer, column)
                append_sentences(unit[side], Sentences(tokens.ids, tokens.ends))
        rows = np.arange(len(tokenizer), dtype=np.int32)
        write_pieces(unit, rows, [len(tokenizer)], np.empty((0, 2), np.int32), [digest])


@dataclass(frozen=True, slots=True)
class TransformerFiles:
    """The content of a Transformer's folder, with our entries of `config.json` as its `config`."""

    modules: "SentenceTransformer"
    config: Mapping[str, Any]

    def open(self) -> TransformerEncoder:
        """The model, which shares its parameters with `modules`."""
        return TransformerEncoder(self.modules, self.config)

    def write(self, folder: Path) -> None:
        """Write the folder; each file is either complete or not there."""
        write_transformer(self.modules, self.config, folder)


class TrainableTransformer(nn.Module):
    """A Transformer and its pooling, as an encoder of `Sentences`.

    Args:
        modules: the modules of sentence-transformers.
    """

    # Sentences embedded at a time without gradients; their states take much more memory than averages.
    embed_block = 64

    def __init__(self, modules: "SentenceTransformer") -> None:
        super().__init__()
        self.encoder = modules
        self.padding = int(modules.tokenizer.pad_token_id)

    def forward(self, sentences: Sentences) -> Tensor:
        """Unit vectors of the sentences, [n, dimension]."""
        features = padded(sentences.tokens, sentences.offsets, np.arange(len(sentences)), self.padding)
        moved = {name: value.to(self.encoder.device) for name, value in features.items()}
        vectors: Tensor = self.encoder(moved)["sentence_embedding"]
        return vectors

    def files(self, weights: Mapping[str, Float32], config: Mapping[str, Any]) -> TransformerFiles:
        """The files of the model with these parameters, which become those of this encoder."""
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.copy_(torch.from_numpy(weights[name]))
        return TransformerFiles(self.encoder, config)


def initialize_transformer(inputs: TrainingInputs) -> Initialization:
    """Make the Transformer that training begins with; an LSTM's weights are drawn from the settings' seed.

    Raises:
        InputError: the Transformer cannot be loaded.
    """
    transformer, settings = inputs.architecture.transformer, inputs.settings
    if transformer is None:
        raise ValueError("the encoder is not a Transformer")
    lowercase = bool(inputs.config["lowercase"])
    modules = load_modules(transformer, lowercase=lowercase, dropout=settings.dropout, seed=settings.seed)
    encoder = TrainableTransformer(modules)
    about = {"architecture": inputs.architecture.to_json()}

    def files(weights: Weights, config: Mapping[str, Any]) -> TransformerFiles:
        return encoder.files(weights, {**config, **about})

    return Initialization(encoder=encoder, files=files)
