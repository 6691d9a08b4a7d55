"""Models with several parts, with LSTMs, or with separate parameters for each language.

`config.json` holds their `architecture`, and `model.safetensors` these tensors:

    known.{unit}[.{language}]               bool [pieces], as in an `AverageEncoder`
    sentencepiece.{unit}[.{language}]       uint8, the sentencepiece model of each vocabulary but the first
    {part}.embeddings[.{language}]          float32 [pieces, dim]
    {part}.unknown[.{language}]             float32 [dim]
    {part}.lstm.{name}[.{language}]         weights of `recurrent.RecurrentPooling`

A name ends with a language if each language has a tensor of its own. If the vocabularies overlap, each
language has a copy of the shared embeddings.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sentencepiece import SentencePieceProcessor

from paraphrastic.base.arrays import Bool, Float32
from paraphrastic.base.errors import InputError
from paraphrastic.model.architecture import Architecture, Part
from paraphrastic.model.average import average, digest_of
from paraphrastic.model.encoder import SentenceEncoder, Vectors
from paraphrastic.model.files import COMPOSITE, SENTENCEPIECE, WEIGHTS, ModelFiles, Tensors, tensor_name
from paraphrastic.model.tokenizer import Tokenizer, Tokens
from paraphrastic.model.vocabulary import add_unseen_rows, open_processor, with_unknown_pieces

# Sentences whose token embeddings are gathered at a time: with 20 tokens each, 20 MB at 1,024 dimensions.
_LSTM_SENTENCES = 256
# Ends the tokens of each unit in a sentence's list; no piece has this id.
_END_OF_UNIT = -1


class CompositeEncoder(SentenceEncoder):
    """A trained model of any architecture.

    Args:
        tensors: the tensors of `model.safetensors`; see the module.
        sentencepiece: the first sentencepiece model, serialized.
        config: the content of `config.json`.

    Raises:
        InputError: the arguments do not fit together.
        KeyError: a tensor is missing.
    """

    def __init__(self, tensors: Tensors, sentencepiece: bytes, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.architecture = Architecture.from_json(config["architecture"])
        separate = self.architecture.separate
        self.languages: tuple[str | None, ...] = tuple(config["languages"]) if separate else (None,)
        self._tensors = dict(tensors)
        # By unit and language; the language is None if the languages share tables.
        self._tokenizers: dict[tuple[str, str | None], Tokenizer] = {}
        processors: dict[str, SentencePieceProcessor] = {}
        for unit, language in product(self.architecture.units, self.languages):
            separate = self.architecture.vocabularies != "shared"
            name = tensor_name(f"sentencepiece.{unit}", language if separate else None)
            if name not in processors:
                content = self._tensor(name, np.uint8, 1).tobytes() if processors else sentencepiece
                processor = open_processor(content, name if processors else SENTENCEPIECE)
                lowercase = bool(config.get("lowercase"))
                processors[name] = with_unknown_pieces(processor, lowercase=lowercase)
            known = self._add_unseen(processors[name], unit, language)
            self._tokenizers[unit, language] = Tokenizer(processors[name], known, unit)
        self.processor = next(iter(processors.values()))
        self._parts = {language: list(self._read_parts(language)) for language in self.languages}
        sizes, *others = ([part.dim for part in parts] for parts in self._parts.values())
        if any(other != sizes for other in others) or (
            self.architecture.combine == "add" and len(set(sizes)) > 1
        ):
            raise InputError(f"{WEIGHTS}: the parts have vectors of sizes that cannot be combined")

    def _tensor(self, name: str, dtype: npt.DTypeLike, axes: int) -> npt.NDArray[Any]:
        """A tensor, which must have this type and number of axes."""
        tensor = self._tensors[name]
        if tensor.dtype != dtype or tensor.ndim != axes or 0 in tensor.shape:
            actual = f"{tensor.dtype} {tensor.shape}"
            raise InputError(f"{WEIGHTS}: {name} is {actual}; {np.dtype(dtype)} with {axes} axes is needed")
        return tensor

    def _add_unseen(self, processor: SentencePieceProcessor, unit: str, language: str | None) -> Bool:
        """Give every piece of a unit a row in each of its parts; return which pieces have one, [pieces]."""
        name = tensor_name(f"known.{unit}", language)
        known = complete = self._tensor(name, np.bool_, 1)
        pieces = processor.get_piece_size()
        for number, part in enumerate(self.architecture.parts):
            if part.unit != unit:
                continue
            table = tensor_name(f"{number}.embeddings", language)
            embeddings = self._tensor(table, np.float32, 2)
            if not len(embeddings) == len(known) == pieces:
                rows = f"{table} has {len(embeddings)} rows and {name} {len(known)}"
                raise InputError(f"{rows}, but the vocabulary has {pieces} pieces")
            self._tensors[table], complete, _ = add_unseen_rows(embeddings, known, processor)
        self._tensors[name] = complete
        return complete

    def _read_parts(self, language: str | None) -> Iterator["_AveragePart"]:
        for number, part in enumerate(self.architecture.parts):
            embeddings = self._tensors[tensor_name(f"{number}.embeddings", language)]
            unknown = self._tensor(tensor_name(f"{number}.unknown", language), np.float32, 1)
            if unknown.shape != embeddings.shape[1:]:
                raise InputError(f"{number}.unknown does not have the dimension of {number}.embeddings")
            table = np.concatenate([embeddings, unknown[None]])
            if not part.recurrent:
                yield _AveragePart(table, part)
                continue
            suffix = language if self.architecture.languages == "separate" else None
            weights = {
                name: self._tensor(tensor_name(f"{number}.lstm.{name}", suffix), np.float32, axes)
                for name, axes in _lstm_weights(part)
            }
            yield _RecurrentPart(table, part, weights)

    @property
    def dim(self) -> int:
        """Dimension of the sentence vectors."""
        dimensions = [part.dim for part in self._parts[self.languages[0]]]
        return sum(dimensions) if self.architecture.combine == "concatenate" else dimensions[0]

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """The content of `model.safetensors`, by name."""
        return dict(self._tensors)

    @property
    def sentencepiece(self) -> bytes:
        """The first sentencepiece model, serialized."""
        return self.processor.serialized_model_proto()

    def write(self, folder: Path) -> None:
        """Write the files of a model folder."""
        ModelFiles(COMPOSITE, self.dim, self._tensors, self.sentencepiece, self.config).write(folder)

    def _content(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return CompositeEncoder, (self.tensors(), self.sentencepiece, dict(self.config))

    @property
    def digest(self) -> str:
        """SHA-256 of everything that determines a sentence's vector."""
        architecture = json.dumps(self.architecture.to_json(), sort_keys=True)
        return digest_of(self.sentencepiece, self._tensors, architecture, self._preparation())

    def _check_language(self, language: str | None) -> None:
        if self.architecture.separate and language not in self.languages:
            choices = " or ".join(map(repr, self.languages))
            cause = f"language must be {choices}, not {language!r}"
            raise InputError(f"this model has separate parameters for its languages: {cause}")

    def _tokenize(self, texts: Sequence[str], language: str | None) -> "_UnitTokens":
        language = language if self.architecture.separate else None
        units = {unit: self._tokenizers[unit, language].tokenize(texts) for unit in self.architecture.units}
        has_text = np.logical_or.reduce([tokens.has_text for tokens in units.values()])
        return _UnitTokens(units, has_text, language)

    def _embed(self, tokens: "_UnitTokens", normalize: bool, vectors: Vectors) -> None:
        parts = [part.embed(tokens.units[part.part.unit]) for part in self._parts[tokens.language]]
        if self.architecture.combine == "concatenate":
            combined = np.concatenate(parts, axis=1)
        else:
            combined = np.sum(parts, axis=0, dtype=np.float32)
        combined[~tokens.has_text] = 0
        if normalize:
            lengths = np.linalg.norm(combined, axis=1, keepdims=True)
            np.divide(combined, lengths, out=combined, where=lengths > 0)
        vectors[:] = combined


def _lstm_weights(part: Part) -> Iterator[tuple[str, int]]:
    """The name and the number of axes of each weight of an LSTM."""
    axes_of = {"w": 2, "u": 2, "bias": 1, **({"peepholes": 2} if part.peepholes else {})}
    for direction in range(2 if part.kind == "bilstm" else 1):
        yield from ((f"directions.{direction}.{name}", axes) for name, axes in axes_of.items())


@dataclass(frozen=True, slots=True)
class _UnitTokens:
    """Sentences tokenized into all units.

    Attributes:
        units: tokens by unit.
        has_text: false for sentences without any piece. [n]
        language: the language whose tables are used; None if the languages share them.
    """

    units: Mapping[str, Tokens]
    has_text: Bool
    language: str | None

    def lists(self) -> list[list[int]]:
        """The pieces of each sentence, one unit after the other."""
        by_unit = zip(*(tokens.lists() for tokens in self.units.values()), strict=True)
        return [[piece for pieces in of_units for piece in (*pieces, _END_OF_UNIT)] for of_units in by_unit]


class _AveragePart:
    """A part that averages. The table's last row stands for a sentence without any known piece."""

    def __init__(self, table: Float32, part: Part) -> None:
        self.table = table
        self.part = part
        self.dim = table.shape[1]

    def embed(self, tokens: Tokens) -> Float32:
        """Vectors of sentences, [n, dim]."""
        vectors = np.empty((len(tokens.has_text), self.dim), np.float32)
        ones = np.ones(len(self.table), np.float32)
        everywhere = np.ones_like(tokens.has_text)
        average(self.table, ones, tokens.ids, tokens.ends, everywhere, self.table[-1], False, vectors)
        return vectors


class _RecurrentPart(_AveragePart):
    """A part that pools the states of an LSTM over the rows."""

    def __init__(self, table: Float32, part: Part, weights: Tensors) -> None:
        super().__init__(table, part)
        try:
            # A late import, since averages need no torch.
            import torch

            from paraphrastic.model.recurrent import RecurrentPooling
        except ImportError:
            raise InputError("an LSTM needs torch, which is not installed: pip install torch") from None
        width = weights["directions.0.u"].shape[1]
        self.dim = 2 * width if part.kind == "bilstm" and part.directions == "concatenate" else width
        shapes = {"w": (4 * width, table.shape[1]), "u": (4 * width, width), "bias": (4 * width,)}
        shapes["peepholes"] = (3, width)
        for name, value in weights.items():
            # Compared before the LSTM is made, which takes as much memory as its shapes say.
            if value.shape != (shape := shapes[name.rpartition(".")[2]]):
                cause = f"{name} is {value.shape}, not {shape}"
                raise InputError(f"the weights of its LSTM do not fit its architecture: {cause}")
        self._lstm = RecurrentPooling(table.shape[1], self.dim, part)
        self._lstm.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})

    def embed(self, tokens: Tokens) -> Float32:
        """Vectors of sentences, [n, dim]."""
        import torch

        vectors = np.empty((len(tokens.has_text), self.dim), np.float32)
        counts = np.diff(tokens.ends)
        # As in training, a sentence without any known piece gets the last row.
        rows = np.insert(tokens.ids, tokens.ends[:-1][counts == 0], len(self.table) - 1)
        counts = np.maximum(counts, 1)
        starts = np.cumsum(counts) - counts
        # LSTMs are fastest on sentences of about the same length.
        order = np.argsort(counts, kind="stable")
        before = torch.get_num_threads()
        # One thread is enough, since the others embed other blocks of sentences.
        torch.set_num_threads(1)
        try:
            with torch.no_grad():
                for start in range(0, len(order), _LSTM_SENTENCES):
                    chosen = order[start : start + _LSTM_SENTENCES]
                    chosen_rows = np.concatenate([rows[starts[i] : starts[i] + counts[i]] for i in chosen])
                    vectors[chosen] = self._lstm(
                        torch.from_numpy(self.table[chosen_rows]), counts[chosen]
                    ).numpy()
        finally:
            torch.set_num_threads(before)
        return vectors
