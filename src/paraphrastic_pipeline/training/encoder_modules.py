"""Trainable encoders: averaged embeddings (the P-SP models), LSTMs over embeddings, and combinations."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import sentencepiece
import torch
from torch import Tensor, nn

from paraphrastic.base.arrays import Bool, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.model.architecture import Architecture, Part
from paraphrastic.model.recurrent import RecurrentPooling
from paraphrastic.model.vocabulary import UNKNOWN, UNSEEN
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.pair_dataset import WORD_START, UnitTable, pieces_of_rows
from paraphrastic_pipeline.training.sentences import Sentences

log = logging.getLogger(__name__)

# Distance between the seeds of two parts.
SEEDS = 1_000_003


class _Embeddings(nn.Module):
    """A table of embeddings.

    Args:
        n_rows: rows of the table.
        dimension: dimension of the embeddings.
        init_std: standard deviation of the normal distribution that they are drawn from.
        seed: seed of the draw.
        dropout: probability that an entry of a token's embedding is left out in training.
    """

    def __init__(
        self, n_rows: int, dimension: int, *, init_std: float, seed: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.table = nn.Parameter(torch.randn(n_rows, dimension, generator=generator) * init_std)
        self.dropout = dropout


class AveragedEmbeddings(_Embeddings):
    """Averages the embeddings of a sentence's tokens (Wieting et al. 2021, section 3)."""

    def forward(self, sentences: Sentences) -> Tensor:
        """Vectors of the sentences, float32 [n, dimension]; an empty sentence has a zero vector."""
        device = self.table.device
        tokens = torch.from_numpy(sentences.tokens).to(device).long()
        if not self.training or self.dropout == 0.0:
            offsets = torch.from_numpy(sentences.offsets[:-1]).to(device)
            return nn.functional.embedding_bag(tokens, self.table, offsets, mode="mean")
        embeddings = nn.functional.dropout(nn.functional.embedding(tokens, self.table), self.dropout)
        lengths = torch.from_numpy(sentences.lengths).to(device)
        sentence_of_token = torch.repeat_interleave(lengths)
        sums = embeddings.new_zeros(len(sentences), self.table.shape[1]).index_add(
            0, sentence_of_token, embeddings
        )
        return sums / lengths.clamp_min(1)[:, None]


class RecurrentEmbeddings(_Embeddings):
    """An LSTM over the embeddings of a sentence's tokens (ParaNMT-50M, section 4.1).

    Args:
        n_rows: rows of the table.
        embedding: dimension of the embeddings.
        dimension: dimension of the sentence vectors.
        part: the kind of LSTM and its pooling.
        second: bool [rows], true for rows of the second language, which then has an LSTM of its own. None if
            one LSTM serves both languages.
        seed: seed of the embeddings and of the LSTM's weights.
        scramble: share of the sentences whose tokens are shuffled in training.
        table: further arguments of `_Embeddings`.
    """

    def __init__(
        self, n_rows: int, embedding: int, dimension: int, *, part: Part,
        second: Bool | None, seed: int, scramble: float, **table: Any,
    ) -> None:  # fmt: skip
        super().__init__(n_rows, embedding, seed=seed, **table)
        self.second = second
        self.lstms = nn.ModuleList(
            RecurrentPooling(embedding, dimension, part, seed=seed + number + 1)
            for number in range(1 if second is None else 2)
        )
        self.scramble = scramble

    def forward(self, sentences: Sentences) -> Tensor:
        """Vectors of the sentences, float32 [n, dimension]; an empty sentence has a zero vector."""
        if self.second is None:
            return self._encode(self.lstms[0], sentences)
        # The languages share no rows, so a sentence's first token tells its language.
        starts = np.append(sentences.tokens, 0)[sentences.offsets[:-1]]
        second = self.second[starts] & (sentences.lengths > 0)
        rows = [np.flatnonzero(~second), np.flatnonzero(second)]
        vectors = [
            self._encode(lstm, sentences.take(chosen)) for lstm, chosen in zip(self.lstms, rows, strict=True)
        ]
        places = torch.from_numpy(np.argsort(np.concatenate(rows)))
        return torch.cat(vectors)[places.to(self.table.device)]

    def _encode(self, lstm: nn.Module, sentences: Sentences) -> Tensor:
        tokens = torch.from_numpy(sentences.tokens).long()
        if self.training and self.scramble > 0.0:
            tokens = tokens[scrambled(sentences, self.scramble)]
        embeddings = nn.functional.embedding(tokens.to(self.table.device), self.table)
        return lstm(nn.functional.dropout(embeddings, self.dropout, self.training), sentences.lengths)


def scrambled(sentences: Sentences, share: float) -> Tensor:
    """A new order of the tokens, [tokens], in which each sentence is shuffled with probability `share`.

    It is drawn from torch's default generator (Wieting and Gimpel 2017, section 3).
    """
    lengths = torch.from_numpy(sentences.lengths)
    sentence = torch.repeat_interleave(torch.arange(len(sentences)), lengths)
    chosen = torch.rand(len(sentences)) < share
    keys = torch.rand(len(sentence), dtype=torch.float64)
    # Ascending keys keep the order of the other sentences.
    keys = torch.where(chosen[sentence], keys, torch.linspace(0, 0.5, len(sentence), dtype=torch.float64))
    return torch.argsort(sentence + keys, stable=True)


class TrainableEncoder(nn.Module):
    """One encoder, or several whose vectors are concatenated or added (ParaNMT-50M, section 6.6).

    Each part has its own embeddings under `table`. `inputs` says which unit of the sentences each part takes:
    0 is `Sentences` itself, and 1 is the first of its `others`.
    """

    def __init__(
        self,
        parts: Sequence[nn.Module],
        inputs: Sequence[int],
        *,
        combine: Literal["concatenate", "add"] = "concatenate",
    ) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.inputs = tuple(inputs)
        self.combine = combine

    def forward(self, sentences: Sentences) -> Tensor:
        """Vectors of the sentences, float32 [n, dimension]."""
        units = [sentences, *sentences.others]
        vectors = [part(units[unit]) for part, unit in zip(self.parts, self.inputs, strict=True)]
        if len(vectors) == 1:
            return vectors[0]
        return torch.stack(vectors).sum(dim=0) if self.combine == "add" else torch.cat(vectors, dim=1)


def initial_encoder(
    units: Sequence[UnitTable], settings: TrainingSettings, architecture: Architecture
) -> TrainableEncoder:
    """Make the encoder before training, with random parameters drawn from the settings' seed.

    `units` describes the rows of the tables, in the order of `architecture.units`. The standard deviations of
    the settings and of the parts are those of embeddings; LSTMs have the initial weights of torch.
    """
    parts: list[nn.Module] = []
    inputs = [architecture.units.index(part.unit) for part in architecture.parts]
    for number, (part, unit) in enumerate(zip(architecture.parts, inputs, strict=True)):
        rows, dimension = units[unit].n_rows, part.dimension or settings.dimension
        seed = settings.seed + number * SEEDS
        init_std = settings.init_std if part.init_std is None else part.init_std
        common: Any = {"init_std": init_std, "seed": seed, "dropout": settings.dropout}
        if not part.recurrent:
            parts.append(AveragedEmbeddings(rows, dimension, **common))
            continue
        second = units[unit].second if architecture.languages == "separate" else None
        more: Any = {"part": part, "second": second, "scramble": architecture.scramble}
        parts.append(RecurrentEmbeddings(rows, settings.dimension, dimension, **more, **common))
    return TrainableEncoder(parts, inputs, combine=architecture.combine)


def scale_rows(
    encoder: TrainableEncoder, counts: Sequence[Int64], units: Sequence[UnitTable], a: float | None
) -> None:
    """Multiply rows of averaged embeddings by their smooth inverse frequency, a / (a + p), and unseen ones.

    In a sum, frequent rows would drown the others (Arora et al. 2017, section 3). LSTMs see embeddings one by
    one, so their rows stay as they are, and so do all if there is no `a`.

    The rows of pieces that the training data do not have are multiplied by `UNSEEN`. A character that was
    never seen has up to four of them, one for each of its bytes, and they should tell it from others without
    outweighing the words around it. `counts` says how often each row of each unit occurs.
    """
    for part, place in zip(encoder.parts, encoder.inputs, strict=True):
        scales = np.ones(units[place].n_rows, np.float32)
        if a is not None and isinstance(part, AveragedEmbeddings):
            scales = (a / (a + counts[place] / counts[place].sum())).astype(np.float32)
        scales[: len(units[place].pieces)][counts[place][: len(units[place].pieces)] == 0] = UNSEEN
        part.get_parameter("table").data *= torch.from_numpy(scales)[:, None]


def use_word_vectors(
    encoder: TrainableEncoder,
    path: Path,
    units: Sequence[UnitTable],
    processors: Mapping[str, Sequence[sentencepiece.SentencePieceProcessor]],
    architecture: Architecture,
) -> None:
    """Set the rows of words to their word vectors, in place; words without one keep random embeddings.

    If the file has a vector for `UNKNOWN`, as PARAGRAM's have, it is that of unknown words. `path` is a
    file that `read_word_vectors` reads; `processors` holds the sentencepiece models of each unit.

    Raises:
        InputError: the vectors and a table differ in dimension, or a line cannot be read.
    """
    unit = units[architecture.units.index("word")]
    pieces = pieces_of_rows(unit, processors["word"])
    words = [str(processor.id_to_piece(piece)).removeprefix(WORD_START) for processor, piece in pieces]
    # Imported here, since most models have no such file, and the libraries for it take half a second.
    from paraphrastic_pipeline.training.word_vectors import read_word_vectors

    known, vectors = read_word_vectors(path, frozenset([*words, UNKNOWN]))
    every = [*words, *[UNKNOWN] * len(unit.sizes)]
    rows = np.array([known.get(word, -1) for word in every], np.int64)
    log.info("%s: found vectors for %d of %d words", path, (rows[: len(words)] >= 0).sum(), len(words))
    for number, part in enumerate(architecture.parts):
        if part.unit != "word":
            continue
        table = encoder.get_parameter(f"parts.{number}.table")
        if vectors.shape[1] != table.shape[1]:
            raise InputError(
                f"{path}: its vectors have {vectors.shape[1]} dimensions, but the embeddings of part "
                f"{number} of the encoder have {table.shape[1]}: set training.dimension or the part's "
                "dimension"
            )
        table.data[torch.from_numpy(rows >= 0)] = torch.from_numpy(vectors[rows[rows >= 0]])
