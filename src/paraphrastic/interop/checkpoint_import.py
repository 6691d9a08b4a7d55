"""Models of the original code: checkpoints that its training saved, as models of this project.

A checkpoint is what `torch.save` wrote of a dictionary: `state_dict`, `vocab` (the row of each piece, by its
spelling), `args` (an `argparse.Namespace`), the optimizer's state and the number of the epoch. It is a
pickle, which could run any code; it is read without running any.
"""

import argparse
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sentencepiece import SentencePieceProcessor

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic.config.architecture import Architecture, Part
from paraphrastic.interop.sentencepiece_proto import add_unknown_pieces
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.composite import CompositeEncoder
from paraphrastic.model.encoder import Float32, SentenceEncoder
from paraphrastic.model.folder import save_model
from paraphrastic.model.unknown_pieces import UNKNOWN, with_unknown_pieces
from paraphrastic.training.vocabulary import load_sentencepiece

# Embeddings, known pieces and the unknown vector, as `AverageEncoder` takes them.
_Tables = tuple[Float32, npt.NDArray[np.bool_], Float32]
# What the original calls tensors and vocabulary of the first and of the second side, if that has its own.
_SIDES = ("", "_fr")
# The beginning of a file of a newer version of torch.
_ZIP = b"PK\x03\x04"
# Of an LSTM in torch, forwards and backwards, by the names of `recurrent.Lstm`.
_DIRECTIONS = ("", "_reverse")
# Settings of training that `config.json` has, by the original's names.
_SETTINGS = {
    "dim": "dimension", "batchsize": "batch_size", "dropout": "dropout", "megabatch_size": "megabatch",
    "megabatch_anneal": "megabatch_anneal", "delta": "margin", "lr": "learning_rate",
}  # fmt: skip


def import_checkpoint(
    checkpoint: str | Path,
    sentencepiece_model: str | Path,
    output: str | Path,
    *,
    name: str | None = None,
    languages: Sequence[str] = (),
    tokenized: bool = False,
) -> SentenceEncoder:
    """Write a checkpoint of the original code as a new model folder with a card; see `open_checkpoint`.

    Other libraries can load the folder, too, if they have the same vectors; if not, its card says why.

    Raises:
        InputError: as `open_checkpoint`; or `output` is there already, and no empty folder. Then nothing is
            left.
    """
    # Not at the top: who opens a checkpoint needs none of it.
    from paraphrastic.interop.export.folder import new_folder
    from paraphrastic.interop.export.static import complete_if_equal
    from paraphrastic.interop.model_card import write_import_card

    with new_folder(Path(output)) as folder:
        model = open_checkpoint(
            checkpoint, sentencepiece_model, name=name, languages=languages, tokenized=tokenized
        )
        save_model(model, folder, config=model.config)
        why_not = complete_if_equal(model, folder)
        digests = {Path(path).name: sha256(path) for path in (checkpoint, sentencepiece_model)}
        write_import_card(folder, Path(output).name, digests, why_not=why_not)
    return model


def open_checkpoint(
    checkpoint: str | Path,
    sentencepiece_model: str | Path,
    *,
    name: str | None = None,
    languages: Sequence[str] = (),
    tokenized: bool = False,
) -> SentenceEncoder:
    """A model of the original code; its vectors are the original's, but for text without any piece.

    That is the zero vector here, as with every model, and the vector of unknown text in the original.

    Args:
        checkpoint: the file, of any version of torch.
        sentencepiece_model: the model that its training text was cut by.
        name: of the model; left out, the file's.
        languages: of the model. One that is separate for its sides needs two, in the order of the columns of
            its training data.
        tokenized: whether sentences will be given as the Moses tokenizer cuts them, which a model may need.

    Raises:
        InputError: a file that is missing, damaged or no such checkpoint, that asks for code to run, or a
            model whose vectors cannot be the original's here.
    """
    path, sentencepiece_path = Path(checkpoint), Path(sentencepiece_model)
    saved = _Checkpoint(path, _read(path))
    processor = load_sentencepiece(sentencepiece_path)
    lowercase, zero_unknown = saved.check(tokenized=tokenized)
    sides = saved.sides(languages)
    architecture = saved.architecture(separate=len(sides) > 1)
    config = {
        "model": name or path.stem,
        "languages": list(languages),
        "corpora": {},
        "lowercase": lowercase,
        "unit": "subword",
        "segmentation": {},
        "folding": {},
        **({"tokenized": True} if tokenized else {}),
        "training": saved.training(),
    }
    try:
        vocabulary = dict.fromkeys(spelling for side in sides for spelling in side.spellings(lowercase))
        processor = with_unknown_pieces(add_unknown_pieces(processor, list(vocabulary)), lowercase=lowercase)
        tables = [side.table(processor, lowercase=lowercase, zero_unknown=zero_unknown) for side in sides]
        if architecture.averaged and not architecture.separate:
            return AverageEncoder(*tables[0], processor, config)
        return _parts_encoder(sides, tables, processor, architecture, config)
    except InputError as error:
        raise InputError(f"{path} with {sentencepiece_path}: {error}") from None


def _parts_encoder(
    sides: "Sequence[_Side]",
    tables: Sequence[_Tables],
    processor: SentencePieceProcessor,
    architecture: Architecture,
    config: Mapping[str, Any],
) -> CompositeEncoder:
    tensors: dict[str, npt.NDArray[Any]] = {}
    for side, (embeddings, known, unknown) in zip(sides, tables, strict=True):
        suffix = f".{side.language}" if side.language else ""
        tensors |= {f"0.embeddings{suffix}": embeddings, f"0.unknown{suffix}": unknown}
        tensors |= {f"0.lstm.{key}{suffix}": value for key, value in side.lstm.items()}
        tensors[f"known.subword{suffix}"] = known
    return CompositeEncoder(tensors, processor, {**config, "architecture": architecture.to_json()})


@dataclass(frozen=True, slots=True)
class _Side:
    """What the sentences of a side are embedded with.

    Attributes:
        language: of the side, where the sides differ.
        vocab: rows of the table, by the spelling of pieces.
        weights: the table, float32 [rows, dim].
        lstm: weights by the names of `recurrent.RecurrentPooling`; none of an average.
    """

    language: str | None
    vocab: Mapping[str, int]
    weights: Float32
    lstm: Mapping[str, Float32]

    def spellings(self, lowercase: bool) -> Iterator[str]:
        """Of the vocabulary, what can come of text: without white space, and lower-cased where text is."""
        for spelling in self.vocab:
            if spelling.split() == [spelling] and not (lowercase and spelling != spelling.lower()):
                yield spelling

    def table(self, processor: SentencePieceProcessor, *, lowercase: bool, zero_unknown: bool) -> _Tables:
        """Embeddings by sentencepiece's ids, as `AverageEncoder` takes them.

        As in the original, a piece is lower-cased before it is looked up, and one without a row is left out
        (`zero_unknown`) or has the unknown row.
        """
        pieces = processor.id_to_piece(list(range(processor.get_piece_size())))
        rows = np.full(len(pieces), -1, np.int64)
        absent = -1 if zero_unknown else self.vocab[UNKNOWN]
        for piece, spelling in enumerate(pieces):
            parts = (spelling.lower() if lowercase else spelling).split()
            if len(parts) > 1:
                raise InputError(f"the piece {spelling!r} has white space in it, which parts it into several")
            if piece == processor.unk_id():
                rows[piece] = absent
            elif parts:
                rows[piece] = self.vocab.get(parts[0], absent)
        known = rows >= 0
        embeddings = self.weights[np.maximum(rows, 0)]
        embeddings[~known] = 0.0
        return embeddings, known, self.weights[self.vocab[UNKNOWN]].copy()


class _Checkpoint:
    """What a file holds; everything that is asked for is checked."""

    def __init__(self, path: Path, content: Any) -> None:
        self.path = path
        if not isinstance(content, dict):
            raise self._fault(f"is no checkpoint: it holds {type(content).__name__}, not a dictionary")
        missing = [key for key in ("state_dict", "vocab", "args") if key not in content]
        if missing:
            raise self._fault(f"is no checkpoint: it has no {' and no '.join(missing)}")
        self.content = content
        if not isinstance(content["args"], argparse.Namespace):
            raise self._fault("args is not an argparse.Namespace")
        self.args = vars(content["args"])
        self.state = content["state_dict"]
        if not isinstance(self.state, Mapping):
            raise self._fault("state_dict is not a dictionary")
        # Of a model that was trained on several GPUs.
        if self.state and all(str(key).startswith("module.") for key in self.state):
            self.state = {str(key).removeprefix("module."): value for key, value in self.state.items()}

    def check(self, *, tokenized: bool) -> tuple[bool, bool]:
        """Refuse what cannot be had here; whether text is lower-cased, and unknown pieces are left out."""
        kind, pool = self._argument("model"), self._argument("pool")
        if kind not in ("avg", "lstm"):
            raise self._fault(f"args.model is {kind!r}; known are 'avg' and 'lstm'")
        if pool not in ("mean", "max") or (kind, pool) == ("avg", "max"):
            raise self._fault(f"args.pool is {pool!r}; an average has 'mean', and an LSTM 'mean' or 'max'")
        if n := self._argument("ngrams", 0):
            raise self._fault(
                f"is a model of character {n}-grams of text as it is, and those here are of normalized text"
            )
        # Earlier code had no such settings: it lower-cased always, and was given tokenized text.
        if self._argument("tokenize", 1) and not tokenized:
            raise self._fault(
                "was trained on text that the Moses tokenizer had cut, which models here do not do: give "
                "sentences in that form, and say so (--tokenized, tokenized=True)"
            )
        return bool(self._argument("lower_case", 1)), bool(self._argument("zero_unk"))

    def sides(self, languages: Sequence[str]) -> list[_Side]:
        """The sides that differ: one, or both."""
        own_table = not self._argument("share_vocab", 1)
        own_lstm = self._recurrent and not self._argument("share_encoder", 1)
        if not own_table and not own_lstm:
            return [self._side(None, "", "")]
        if len(languages) != 2:
            raise self._fault(
                "has parameters of their own for its two sides: give its languages, in the order of the "
                "columns of its training data, as in --languages fr-en"
            )
        return [
            self._side(language, own if own_table else "", own if own_lstm else "")
            for language, own in zip(languages, _SIDES, strict=True)
        ]

    def architecture(self, *, separate: bool) -> Architecture:
        """What the encoder is made of."""
        part = Part()
        if self._recurrent:
            width = self._tensor("lstm.weight_hh_l0").shape[1]
            pooling = self._argument("pool")
            part = Part(kind="bilstm", pooling=pooling, directions="concatenate", dimension=2 * width)
        return Architecture(parts=(part,), languages="separate" if separate else "shared")

    def training(self) -> dict[str, Any]:
        """Settings of the training, and the epoch after which the checkpoint was saved."""
        found = {ours: self.args[name] for name, ours in _SETTINGS.items() if name in self.args}
        numbers = {key: value for key, value in found.items() if isinstance(value, int | float)}
        settings = {key: value for key, value in numbers.items() if math.isfinite(value)}
        epoch = self.content.get("epoch")
        return {**({"epochs": epoch} if isinstance(epoch, int) else {}), **settings}

    @property
    def _recurrent(self) -> bool:
        return self._argument("model") == "lstm"

    def _argument(self, name: str, *default: Any) -> Any:
        if name not in self.args and not default:
            raise self._fault(f"args has no {name}")
        value = self.args.get(name, *default)
        if not isinstance(value, str | int | float | None):
            raise self._fault(f"args.{name} is of the type {type(value).__name__}")
        return value

    def _side(self, language: str | None, own_table: str, own_lstm: str) -> _Side:
        vocab, name = self.content.get(f"vocab{own_table}"), f"embedding{own_table}.weight"
        weights = self._tensor(name)
        if not isinstance(vocab, Mapping) or not all(isinstance(piece, str) for piece in vocab):
            raise self._fault(f"vocab{own_table} is not a dictionary of pieces")
        if UNKNOWN not in vocab:
            raise self._fault(f"vocab{own_table} has no {UNKNOWN}")
        dimension = self._argument("dim", weights.shape[-1])
        if weights.shape != (len(vocab), dimension):
            sizes = " × ".join(map(str, weights.shape))
            raise self._fault(
                f"{name} is {sizes}, but vocab{own_table} has {len(vocab)} pieces and args.dim is {dimension}"
            )
        for piece, row in vocab.items():
            if type(row) is not int or not 0 <= row < len(vocab):
                raise self._fault(f"vocab{own_table}: the row of {piece!r} is {row!r}, of {len(vocab)} rows")
        return _Side(language, vocab, weights, dict(self._lstm(own_lstm)) if self._recurrent else {})

    def _lstm(self, own: str) -> Iterator[tuple[str, Float32]]:
        for number, direction in enumerate(_DIRECTIONS):
            w, u = (self._tensor(f"lstm{own}.weight_{name}_l0{direction}") for name in ("ih", "hh"))
            biases = [self._tensor(f"lstm{own}.bias_{name}_l0{direction}", 1) for name in ("ih", "hh")]
            if {len(w), len(u), *map(len, biases)} != {4 * u.shape[1]}:
                raise self._fault(f"the sizes of lstm{own}'s weights do not fit each other")
            yield f"directions.{number}.w", w
            yield f"directions.{number}.u", u
            # Torch adds them to the same sum.
            yield f"directions.{number}.bias", biases[0] + biases[1]

    def _tensor(self, name: str, dimensions: int = 2) -> Float32:
        import torch

        value = self.state.get(name)
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.is_sparse:
            raise self._fault(f"state_dict has no {name} of numbers")
        if value.dim() != dimensions:
            raise self._fault(f"{name} has {value.dim()} dimensions, not {dimensions}")
        array: Float32 = value.detach().float().numpy()
        if not np.isfinite(array).all():
            raise self._fault(f"{name} has numbers that are not finite")
        return array

    def _fault(self, cause: str) -> InputError:
        return InputError(f"{self.path}: {cause}")


def _read(path: Path) -> Any:
    """The content of a file that `torch.save` wrote; nothing in it is run.

    Of the classes that a pickle can name, `argparse.Namespace` is allowed beside torch's tensors.
    """
    try:
        import torch
    except ImportError:
        raise InputError("a checkpoint needs torch, which is not installed: pip install torch") from None
    if not path.is_file():
        raise InputError(f"{path}: is not a file")
    try:
        # What is mapped is read when it is needed, which the optimizer's state never is.
        with path.open("rb") as file:
            mapped = file.read(len(_ZIP)) == _ZIP
        with warnings.catch_warnings(), torch.serialization.safe_globals([argparse.Namespace]):
            # What it warns of is an error soon after, if it is one.
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except Exception as error:  # whatever a damaged file makes of its readers
        raise InputError(f"{path}: {_cause(error)}") from None


def _cause(error: Exception) -> str:
    """Why a file was not read, in one line."""
    message = str(error)
    if asked := re.search(
        r"GLOBAL (\S+) was not an allowed|Trying to load unsupported GLOBAL (\S+)", message
    ):
        name = asked[1] or asked[2]
        return f"refused: it asks for {name}, and of classes it may name argparse.Namespace alone"
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    # What torch says in general, after the cause, is no help here.
    causes = [line for line in lines if "torch.load.html" not in line] or [""]
    return f"not readable as a checkpoint ({type(error).__name__}: {causes[-1][:120]})"
