"""A second, plain implementation of what the original code does with sentences and files.

It follows the description of jwieting/paraphrastic-representations-at-scale: embed_sentences.py,
models.py, utils.py and text2HDF5.py.
"""

import argparse
import io
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import sentencepiece
import torch

UNKNOWN = "UUUNKKK"
ARGUMENTS: dict[str, Any] = {
    "model": "avg", "dim": 24, "hidden_dim": 10, "pool": "mean", "zero_unk": 1, "ngrams": 0, "share_vocab": 1,
    "share_encoder": 1, "lower_case": 1, "tokenize": 0, "dropout": 0.0, "batchsize": 128, "delta": 0.4,
    "megabatch_size": 100, "megabatch_anneal": 150, "lr": 0.001, "gpu": 1, "scramble_rate": 0.0,
    "sp_model": "paranmt.model", "outfile": "model.para.lc.100", "save_interval": 0, "load_file": None,
}  # fmt: skip

WORDS = [
    "the", "small", "old", "dog", "sees", "likes", "cat", "house", "river", "and", "then", "on", "of", "a",
    "to", "red", "quiet", "new", "tree", "finds",
]  # fmt: skip
# These words are so rare that a character coverage of 0.985 leaves out their characters.
RARE = ["jazz", "zoo", "quiz", "1984", "42", '"x"', "déjà", "日本", "!?", "50%"]


def corpus(n: int, *, seed: int = 0) -> list[str]:
    """Return lower-cased sentences; some of them contain rare characters."""
    generator = random.Random(seed)
    sentences = []
    for _ in range(n):
        words = generator.choices(WORDS, k=generator.randint(3, 12))
        if generator.random() < 0.15:
            words.insert(generator.randrange(len(words)), generator.choice(RARE))
        sentences.append(" ".join(words))
    return sentences


SENTENCES = corpus(1500)


def train_sentencepiece(sentences: Sequence[str], path: Path, **options: Any) -> Path:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, minloglevel=2, num_threads=1,
        **{"vocab_size": 90, "character_coverage": 0.985, "hard_vocab_limit": False, **options},
    )  # fmt: skip
    path.write_bytes(model.getvalue())
    return path


def pieces_of(processor: sentencepiece.SentencePieceProcessor, sentence: str) -> list[str]:
    return processor.encode(sentence, out_type=str)


def vocabulary_of(sentencepiece_model: Path, sentences: Sequence[str]) -> dict[str, int]:
    """Number the pieces by their first appearance. Training adds one row for unknown text."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(sentencepiece_model))
    vocabulary: dict[str, int] = {}
    for sentence in sentences:
        for piece in pieces_of(processor, sentence):
            vocabulary.setdefault(piece, len(vocabulary))
    return vocabulary


def write_data(
    folder: Path, sentencepiece_model: Path, pairs: Sequence[tuple[str, str]]
) -> tuple[Path, Path]:
    """Write the training data and their vocabulary as text2HDF5.py does."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(sentencepiece_model))
    vocabulary = vocabulary_of(sentencepiece_model, [side for pair in pairs for side in pair])
    rows = np.empty((len(pairs), 2), dtype=object)
    for i, pair in enumerate(pairs):
        for side in range(2):
            pieces = pieces_of(processor, pair[side])
            rows[i, side] = np.array([vocabulary[piece] for piece in pieces], dtype=np.int32)
    with h5py.File(folder / "train.final.h5", "w") as file:
        file.create_dataset("data", data=rows, dtype=h5py.vlen_dtype(np.dtype("int32")))
    lines = "".join(f"{piece}\t{row}\n" for piece, row in vocabulary.items())
    (folder / "train.final.vocab").write_text(lines, encoding="utf-8")
    return folder / "train.final.h5", folder / "train.final.vocab"


class Original:
    """A model of the original code with random parameters."""

    def __init__(self, sentencepiece_model: Path, sentences: Sequence[str], **arguments: Any) -> None:
        self.processor = sentencepiece.SentencePieceProcessor(model_file=str(sentencepiece_model))
        self.arguments = {**ARGUMENTS, **arguments}
        vocabulary = vocabulary_of(sentencepiece_model, sentences)
        self.vocab = {**vocabulary, UNKNOWN: len(vocabulary)}
        torch.manual_seed(7)
        dim, width = self.arguments["dim"], self.arguments["hidden_dim"]
        self.module = torch.nn.Module()
        self.module.embedding = torch.nn.Embedding(len(self.vocab), dim)
        self.vocab_fr = None
        if not self.arguments["share_vocab"]:
            # The order differs, so a test fails if one table is used in place of the other.
            self.vocab_fr = {piece: row for row, piece in enumerate(reversed(vocabulary))}
            self.vocab_fr[UNKNOWN] = len(self.vocab_fr)
            self.module.embedding_fr = torch.nn.Embedding(len(self.vocab_fr), dim)
        if self.arguments["model"] == "lstm":
            self.module.lstm = torch.nn.LSTM(dim, width, bidirectional=True, batch_first=True)
            if not self.arguments["share_encoder"]:
                self.module.lstm_fr = torch.nn.LSTM(dim, width, bidirectional=True, batch_first=True)

    def with_rows(self, spellings: Sequence[str], vectors: np.ndarray, *, second: bool = False) -> None:
        """Add rows for pieces that the training text lacks, as an import does."""
        own = second and not self.arguments["share_vocab"]
        vocab = self.vocab_fr if own else self.vocab
        module = self.module.embedding_fr if own else self.module.embedding
        vocab |= {spelling: len(vocab) + place for place, spelling in enumerate(spellings)}
        table = torch.cat([module.weight.detach(), torch.from_numpy(vectors)])
        module.weight = torch.nn.Parameter(table)

    def rows(self, sentence: str, vocab: dict[str, int]) -> list[int]:
        lower = self.arguments.get("lower_case", 1)
        text = " ".join(pieces_of(self.processor, sentence.lower() if lower else sentence)).strip()
        rows = []
        for piece in (text.lower() if lower else text).split():
            if piece in vocab:
                rows.append(vocab[piece])
            elif not self.arguments["zero_unk"]:
                rows.append(vocab[UNKNOWN])
        return rows or [vocab[UNKNOWN]]

    @torch.no_grad()
    def vector(self, sentence: str, *, second: bool = False) -> np.ndarray:
        own_table = second and not self.arguments["share_vocab"]
        vocab = self.vocab_fr if own_table else self.vocab
        table = self.module.embedding_fr if own_table else self.module.embedding
        states = table(torch.tensor(self.rows(sentence, vocab)))
        if self.arguments["model"] == "lstm":
            own = second and not self.arguments["share_encoder"]
            states = (self.module.lstm_fr if own else self.module.lstm)(states[None])[0][0]
        return (states.max(0)[0] if self.arguments["pool"] == "max" else states.mean(0)).numpy()

    def embed(self, sentences: Sequence[str], *, second: bool = False) -> np.ndarray:
        return np.stack([self.vector(sentence, second=second) for sentence in sentences])

    def content(self) -> dict[str, Any]:
        """Return the content of a checkpoint after one step of the optimizer."""
        optimizer = torch.optim.Adam(self.module.parameters(), lr=0.0)
        for parameter in self.module.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()
        return {
            "state_dict": self.module.state_dict(),
            "vocab": self.vocab,
            "vocab_fr": self.vocab_fr,
            "args": argparse.Namespace(**self.arguments),
            "optimizer": optimizer.state_dict(),
            "epoch": 25,
        }

    def save(self, path: Path, *, legacy: bool = False, **changed: Any) -> Path:
        content = {key: value for key, value in {**self.content(), **changed}.items() if value != "left out"}
        torch.save(content, path, _use_new_zipfile_serialization=not legacy)
        return path
