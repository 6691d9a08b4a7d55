"""What is in a checkpoint that the original code saved in training, read without running any code in it.

Whoever made the file decides what is in it, so shapes and sizes are compared before any number is read.
"""

import argparse
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sentencepiece import SentencePieceProcessor

from paraphrastic.base.arrays import Bool, Float32
from paraphrastic.base.errors import InputError, shown
from paraphrastic.model.architecture import Architecture, Part
from paraphrastic.model.files import require_numbers
from paraphrastic.model.sentencepiece_models import UNKNOWN

# Ending of the original's names for the second side's tensors and vocabulary, if that side has its own.
_SECOND = "_fr"
# The first bytes of a file that a newer version of torch wrote.
_ZIP = b"PK\x03\x04"
# Python cannot write much larger integers, which a pickle can have.
_LARGEST = 10**18
# Endings of torch's names for an LSTM's two directions, in the order of `recurrent.Lstm`.
_DIRECTIONS = ("", "_reverse")
# Training settings by the original's names, and their names in `config.json`.
_SETTINGS = {
    "dim": "dimension", "batchsize": "batch_size", "dropout": "dropout", "megabatch_size": "megabatch",
    "megabatch_anneal": "megabatch_anneal", "delta": "margin", "lr": "learning_rate",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Side:
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


class Checkpoint:
    """The content of a checkpoint, which is checked when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path, content = path, _read(path)
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
        if not all(isinstance(key, str) for key in self.state):
            raise self._fault("state_dict has keys that are not text")
        # A model that was trained on several GPUs has this prefix.
        if self.state and all(key.startswith("module.") for key in self.state):
            self.state = {key.removeprefix("module."): value for key, value in self.state.items()}

    def check(self, *, tokenized: bool) -> tuple[bool, bool]:
        """Refuse unsupported models; return whether text is lower-cased, and unknown pieces are left out."""
        kind, pool = self._argument("model"), self._argument("pool")
        if kind not in ("avg", "lstm"):
            raise self._fault(f"args.model is {shown(kind)}, which is neither 'avg' nor 'lstm'")
        if pool not in ("mean", "max") or (kind, pool) == ("avg", "max"):
            needed = "an average needs 'mean', and an LSTM 'mean' or 'max'"
            raise self._fault(f"args.pool is {shown(pool)}; {needed}")
        if n := self._argument("ngrams", 0):
            raise self._fault(
                f"is a model of character {shown(n)}-grams of unchanged text; those here take normalized text"
            )
        # Earlier code had neither setting below: it always lower-cased, and its text was tokenized.
        if self._argument("tokenize", 1) and not tokenized:
            raise self._fault(
                "was trained on text that the Moses tokenizer had cut, but models here do not run it: give "
                "sentences in that form, and say so (--tokenized, tokenized=True)"
            )
        return bool(self._argument("lower_case", 1)), bool(self._argument("zero_unk"))

    def sides(self, languages: Sequence[str]) -> list[Side]:
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
            width = self._width("lstm.weight_hh_l0")
            pooling = self._argument("pool")
            part = Part(kind="bilstm", pooling=pooling, directions="concatenate", dimension=2 * width)
        return Architecture(parts=(part,), languages="separate" if separate else "shared")

    def training(self) -> dict[str, Any]:
        """Return the settings of the training and the epoch after which the checkpoint was saved."""
        settings = {ours: self.args.get(name) for name, ours in _SETTINGS.items()}
        entries = {"epochs": self.content.get("epoch"), **settings}
        return {
            key: value
            for key, value in entries.items()
            if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST
        }

    def _argument(self, name: str, *default: Any) -> Any:
        if name not in self.args and not default:
            raise self._fault(f"args has no {name}")
        value = self.args.get(name, *default)
        if not isinstance(value, str | int | float | None):
            raise self._fault(f"args.{name} has the type {type(value).__name__}")
        if isinstance(value, int) and abs(value) > _LARGEST:
            raise self._fault(f"args.{name} is too large")
        return value

    def _side(self, language: str | None, own_table: str, own_lstm: str) -> Side:
        vocab, name = self.content.get(f"vocab{own_table}"), f"embedding{own_table}.weight"
        if not isinstance(vocab, Mapping) or not all(isinstance(piece, str) for piece in vocab):
            raise self._fault(f"vocab{own_table} is not a dictionary of pieces")
        if UNKNOWN not in vocab:
            raise self._fault(f"vocab{own_table} has no {UNKNOWN}")
        for piece, row in vocab.items():
            if any("\ud800" <= letter <= "\udfff" for letter in piece):
                raise self._fault(f"vocab{own_table}: {shown(piece)} has half of a surrogate pair")
            if type(row) is not int or not 0 <= row < len(vocab):
                is_short = isinstance(row, float | str) or (isinstance(row, int) and abs(row) <= _LARGEST)
                value = shown(row) if is_short else f"a {type(row).__name__}"
                where = f"vocab{own_table}: the row of {shown(piece)}"
                raise self._fault(f"{where} is {value}, but there are {len(vocab)} rows")
        dimension = self._argument("dim", None)
        width = self._shape(name, 2)[1] if dimension is None else dimension
        why = f"vocab{own_table} has {len(vocab)} pieces and args.dim is {shown(dimension)}"
        weights = self._tensor(name, (len(vocab), width), why)
        lstm = dict(self._lstm(own_lstm, weights.shape[1])) if self._recurrent else {}
        return Side(language, vocab, weights, lstm)

    def _lstm(self, suffix: str, inputs: int) -> Iterator[tuple[str, Float32]]:
        for number, direction in enumerate(_DIRECTIONS):
            width = self._width(f"lstm{suffix}.weight_hh_l0{direction}")
            shapes = {"weight_ih": (inputs,), "weight_hh": (width,), "bias_ih": (), "bias_hh": ()}
            why = f"its input has {inputs} dimensions and its state {width}"
            w, u, first, second = (
                self._tensor(f"lstm{suffix}.{name}_l0{direction}", (4 * width, *shape), why)
                for name, shape in shapes.items()
            )
            name = f"0.lstm.directions.{number}"
            # Torch adds both biases to the same sum.
            yield from ((f"{name}.w", w), (f"{name}.u", u), (f"{name}.bias", first + second))

    def _width(self, name: str) -> int:
        """The dimension of an LSTM's state, from its recurrent weights."""
        return self._shape(name, 2)[1]

    def _tensor(self, name: str, shape: tuple[int, ...], why: str) -> Float32:
        """The numbers of a tensor, which must have this shape; `why` says what asks for it."""
        if (actual := self._shape(name, len(shape))) != shape:
            raise self._fault(f"{name} is {' × '.join(map(str, actual))}, but {why}")
        array: Float32 = self.state[name].detach().resolve_neg().float().numpy()
        require_numbers(array, f"{self.path}: {name}")
        return array

    def _shape(self, name: str, axes: int) -> tuple[int, ...]:
        """The shape of a tensor, whose numbers are all in the file; none of them are read for that."""
        import torch

        value = self.state.get(name)
        kinds = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
        is_plain = type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout is torch.strided
        if not is_plain or value.device.type != "cpu" or value.dtype not in kinds:
            raise self._fault(f"state_dict has no {name} of numbers")
        if value.dim() != axes:
            raise self._fault(f"{name} has {value.dim()} dimensions, not {axes}")
        # A tensor can repeat the same few numbers any number of times.
        if not 0 < value.numel() * value.element_size() <= value.untyped_storage().nbytes():
            sizes = " × ".join(map(str, value.shape))
            raise self._fault(f"{name} is {sizes}, but the file does not have so many numbers of it")
        return tuple(value.shape)

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
