"""Import of checkpoints that the original code saved in training.

A checkpoint is a dictionary written by `torch.save`: `state_dict`, `vocab` (the row of each piece, by its
spelling), `args` (an `argparse.Namespace`), the optimizer's state and the number of the epoch. It is a
pickle, which could run any code; it is read without running any.
"""

import argparse
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sentencepiece import SentencePieceProcessor

from paraphrastic.base.arrays import Bool, Float32
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import new_folder, sha256
from paraphrastic.config.architecture import Architecture, Part
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.composite import CompositeEncoder
from paraphrastic.model.encoder import PieceEncoder
from paraphrastic.model.files import TOKENIZER, require_numbers, tensor_name
from paraphrastic.model.folder import save_model
from paraphrastic.model.sentencepiece_models import UNKNOWN, add_unknown_pieces
from paraphrastic.training.vocabulary import load_sentencepiece

# Ending of the original's names for the second side's tensors and vocabulary, if that side has its own.
_SECOND = "_fr"
# The first bytes of a file that a newer version of torch wrote.
_ZIP = b"PK\x03\x04"
# Endings of torch's names for an LSTM's two directions, in the order of `recurrent.Lstm`.
_DIRECTIONS = ("", "_reverse")
# Training settings by the original's names, and their names in `config.json`.
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
) -> PieceEncoder:
    """Write a checkpoint of the original code as a new model folder with a card; see `open_checkpoint`.

    If other libraries compute the same vectors, they can load the folder; if not, its card says why.

    Raises:
        InputError: see `open_checkpoint`; or `output` exists and is not an empty folder. Nothing is written.
    """
    # Imported here because `open_checkpoint` needs none of it.
    from paraphrastic.interop.model_card import write_import_card
    from paraphrastic.interop.tokenizer import complete_folder

    with new_folder(Path(output)) as folder:
        model = open_checkpoint(
            checkpoint, sentencepiece_model, name=name, languages=languages, tokenized=tokenized
        )
        save_model(model, folder)
        why_not = ""
        try:
            complete_folder(folder, check=partial(_check_tokenizer, model, folder))
        except InputError as error:
            why_not = str(error).removeprefix(
                f"{folder}: cannot be used in sentence-transformers and model2vec: "
            )
        digests = {Path(path).name: sha256(path) for path in (checkpoint, sentencepiece_model)}
        write_import_card(folder, Path(output).name, digests, why_not=why_not)
    return model


def _check_tokenizer(model: PieceEncoder, folder: Path) -> None:
    """Raise an `InputError` unless the ids of `tokenizer.json` lead to the same cosines as the model.

    Cosines are compared on the text that comes with the package.
    """
    from paraphrastic.interop.formats import tokens
    from paraphrastic.interop.parity import TEXT, Other, compare
    from paraphrastic.model.embed_files import read_sentences

    if not isinstance(model, AverageEncoder):
        raise InputError("it consists of more than one average")
    table = model.embeddings
    try:
        cut = tokens(folder)
    except ModuleNotFoundError:
        raise InputError("the package tokenizers, which is needed to check it, is not installed") from None

    def embed(sentences: list[str]) -> Float32:
        rows = [table[ids].mean(axis=0) if ids else np.zeros(model.dim) for ids in cut(sentences)]
        return np.array(rows, np.float32)

    compare(model, Other(cut, embed), read_sentences(str(TEXT))).check(TEXT.name, TOKENIZER)


def open_checkpoint(
    checkpoint: str | Path,
    sentencepiece_model: str | Path,
    *,
    name: str | None = None,
    languages: Sequence[str] = (),
    tokenized: bool = False,
) -> PieceEncoder:
    """Open a model of the original code; its vectors are the original's, except for text without any piece.

    Such text has the zero vector here, as with every model, and the vector of unknown text in the original.

    Args:
        checkpoint: file of any version of torch.
        sentencepiece_model: the model that cut its training text.
        name: name of the model; by default, the file's.
        languages: languages of the model. If its sides have separate parameters, two are needed, in the
            order of the columns of its training data.
        tokenized: whether sentences will be given as the Moses tokenizer cuts them, which a model may need.

    Raises:
        InputError: the file is missing, damaged, not such a checkpoint or asks for code to run, or the model
            cannot have the original's vectors here.
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
        vocabulary = dict.fromkeys(piece for side in sides for piece in side.pieces(lowercase))
        processor = add_unknown_pieces(processor, list(vocabulary))
        tensors: dict[str, npt.NDArray[Any]] = {}
        for side in sides:
            table = side.table(processor, lowercase=lowercase, zero_unknown=zero_unknown)
            if architecture.averaged and not architecture.separate:
                return AverageEncoder(*table, processor, config)
            names = ("0.embeddings", "known.subword", "0.unknown")
            for name, value in (*zip(names, table, strict=True), *side.lstm.items()):
                tensors[tensor_name(name, side.language)] = value
        return CompositeEncoder(tensors, processor, {**config, "architecture": architecture.to_json()})
    except InputError as error:
        raise InputError(f"{path} with {sentencepiece_path}: {error}") from None


@dataclass(frozen=True, slots=True)
class _Side:
    """The parameters that embed the sentences of one side.

    Attributes:
        language: language of the side, if the sides differ.
        vocab: rows of the table, by the spelling of pieces.
        weights: the table, float32 [rows, dim].
        lstm: weights by their names in a `CompositeEncoder`; empty for an average.
    """

    language: str | None
    vocab: Mapping[str, int]
    weights: Float32
    lstm: Mapping[str, Float32]

    def pieces(self, lowercase: bool) -> Iterator[str]:
        """Yield the pieces that text can have: without white space, and in lower case if text is."""
        for spelling in self.vocab:
            if spelling.split() == [spelling] and not (lowercase and spelling != spelling.lower()):
                yield spelling

    def table(
        self, processor: SentencePieceProcessor, *, lowercase: bool, zero_unknown: bool
    ) -> tuple[Float32, Bool, Float32]:
        """Return embeddings by sentencepiece's ids, known pieces and the unknown vector for `AverageEncoder`.

        As in the original, a piece is lower-cased (`lowercase`) before it is looked up. A piece without a row
        is left out (`zero_unknown`) or has the unknown row.
        """
        pieces = processor.id_to_piece(list(range(processor.get_piece_size())))
        rows = np.full(len(pieces), -1, np.int64)
        absent = -1 if zero_unknown else self.vocab[UNKNOWN]
        for piece, spelling in enumerate(pieces):
            parts = (spelling.lower() if lowercase else spelling).split()
            if len(parts) > 1:
                raise InputError(f"the piece {spelling!r} contains white space, which would split it")
            if piece == processor.unk_id():
                rows[piece] = absent
            elif parts:
                rows[piece] = self.vocab.get(parts[0], absent)
        known = rows >= 0
        embeddings = self.weights[np.maximum(rows, 0)]
        embeddings[~known] = 0.0
        return embeddings, known, self.weights[self.vocab[UNKNOWN]].copy()


class _Checkpoint:
    """The content of a checkpoint, which is checked when it is asked for."""

    def __init__(self, path: Path, content: Any) -> None:
        self.path = path
        if not isinstance(content, dict):
            raise self._fault(f"is not a checkpoint: it holds {type(content).__name__}, not a dictionary")
        missing = [key for key in ("state_dict", "vocab", "args") if key not in content]
        if missing:
            raise self._fault(f"is not a checkpoint: it has no {' and no '.join(missing)}")
        self.content = content
        if not isinstance(content["args"], argparse.Namespace):
            raise self._fault("args is not an argparse.Namespace")
        self.args = vars(content["args"])
        self._recurrent = self.args.get("model") == "lstm"
        self.state = content["state_dict"]
        if not isinstance(self.state, Mapping):
            raise self._fault("state_dict is not a dictionary")
        # A model that was trained on several GPUs has this prefix.
        if self.state and all(str(key).startswith("module.") for key in self.state):
            self.state = {str(key).removeprefix("module."): value for key, value in self.state.items()}

    def check(self, *, tokenized: bool) -> tuple[bool, bool]:
        """Refuse unsupported models; return whether text is lower-cased, and unknown pieces are left out."""
        kind, pool = self._argument("model"), self._argument("pool")
        if kind not in ("avg", "lstm"):
            raise self._fault(f"args.model is {kind!r}, which is neither 'avg' nor 'lstm'")
        if pool not in ("mean", "max") or (kind, pool) == ("avg", "max"):
            raise self._fault(f"args.pool is {pool!r}; an average needs 'mean', and an LSTM 'mean' or 'max'")
        if n := self._argument("ngrams", 0):
            raise self._fault(
                f"is a model of character {n}-grams of unchanged text; such models here take normalized text"
            )
        # Earlier code had neither setting below: it always lower-cased, and its text was tokenized.
        if self._argument("tokenize", 1) and not tokenized:
            raise self._fault(
                "was trained on text that the Moses tokenizer had cut, but models here do not run it: give "
                "sentences in that form, and say so (--tokenized, tokenized=True)"
            )
        return bool(self._argument("lower_case", 1)), bool(self._argument("zero_unk"))

    def sides(self, languages: Sequence[str]) -> list[_Side]:
        """Return the sides that differ: one side if they share all parameters, otherwise both."""
        own_table = not self._argument("share_vocab", 1)
        own_lstm = self._recurrent and not self._argument("share_encoder", 1)
        if not own_table and not own_lstm:
            return [self._side(None, "", "")]
        if len(languages) != 2:
            raise self._fault(
                "has separate parameters for its two sides: give its languages, in the order of the "
                "columns of its training data, as in --languages fr-en"
            )
        first, second = languages
        return [
            self._side(first, "", ""),
            self._side(second, _SECOND if own_table else "", _SECOND if own_lstm else ""),
        ]

    def architecture(self, *, separate: bool) -> Architecture:
        """Return the encoder's architecture."""
        part = Part()
        if self._recurrent:
            width = self._tensor("lstm.weight_hh_l0").shape[1]
            pooling = self._argument("pool")
            part = Part(kind="bilstm", pooling=pooling, directions="concatenate", dimension=2 * width)
        return Architecture(parts=(part,), languages="separate" if separate else "shared")

    def training(self) -> dict[str, Any]:
        """Return the settings of the training and the epoch after which the checkpoint was saved."""
        settings = {ours: self.args.get(name) for name, ours in _SETTINGS.items()}
        found = {"epochs": self.content.get("epoch"), **settings}
        return {
            key: value
            for key, value in found.items()
            if isinstance(value, int | float) and math.isfinite(value)
        }

    def _argument(self, name: str, *default: Any) -> Any:
        if name not in self.args and not default:
            raise self._fault(f"args has no {name}")
        value = self.args.get(name, *default)
        if not isinstance(value, str | int | float | None):
            raise self._fault(f"args.{name} has the type {type(value).__name__}")
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
                raise self._fault(
                    f"vocab{own_table}: the row of {piece!r} is {row!r}, but there are {len(vocab)} rows"
                )
        return _Side(language, vocab, weights, dict(self._lstm(own_lstm)) if self._recurrent else {})

    def _lstm(self, own: str) -> Iterator[tuple[str, Float32]]:
        for number, direction in enumerate(_DIRECTIONS):
            w, u = (self._tensor(f"lstm{own}.weight_{name}_l0{direction}") for name in ("ih", "hh"))
            biases = [self._tensor(f"lstm{own}.bias_{name}_l0{direction}", 1) for name in ("ih", "hh")]
            if {len(w), len(u), *map(len, biases)} != {4 * u.shape[1]}:
                raise self._fault(f"the sizes of lstm{own}'s weights do not fit each other")
            name = f"0.lstm.directions.{number}"
            # Torch adds both biases to the same sum.
            yield from ((f"{name}.w", w), (f"{name}.u", u), (f"{name}.bias", biases[0] + biases[1]))

    def _tensor(self, name: str, dimensions: int = 2) -> Float32:
        import torch

        value = self.state.get(name)
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.is_sparse:
            raise self._fault(f"state_dict has no {name} of numbers")
        if value.dim() != dimensions:
            raise self._fault(f"{name} has {value.dim()} dimensions, not {dimensions}")
        array: Float32 = value.detach().float().numpy()
        require_numbers(array, f"{self.path}: {name}")
        return array

    def _fault(self, cause: str) -> InputError:
        return InputError(f"{self.path}: {cause}")


def _read(path: Path) -> Any:
    """Load a file that `torch.save` wrote, without running any code in it.

    Besides torch's tensors, `argparse.Namespace` is the only class that the pickle may name.
    """
    try:
        import torch
    except ImportError:
        raise InputError("a checkpoint needs torch, which is not installed: pip install torch") from None
    if not path.is_file():
        raise InputError(f"{path}: is not a file")
    try:
        # A mapped file is read only as needed, and the optimizer's state never is.
        with path.open("rb") as file:
            mapped = file.read(len(_ZIP)) == _ZIP
        with warnings.catch_warnings(), torch.serialization.safe_globals([argparse.Namespace]):
            # If a warning matters, an error follows soon.
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except Exception as error:  # a damaged file can raise anything
        raise InputError(f"{path}: {_cause(error)}") from None


def _cause(error: Exception) -> str:
    """Say in one line why a file could not be read."""
    message = str(error)
    if asked := re.search(
        r"GLOBAL (\S+) was not an allowed|Trying to load unsupported GLOBAL (\S+)", message
    ):
        name = asked[1] or asked[2]
        return f"refused: it asks for {name}, but argparse.Namespace is the only class allowed"
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    # After the cause, torch gives general advice, which is no help here.
    causes = [line for line in lines if "torch.load.html" not in line] or [""]
    return f"not readable as a checkpoint ({type(error).__name__}: {causes[-1][:120]})"
