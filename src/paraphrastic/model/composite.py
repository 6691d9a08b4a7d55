"""Models of several parts, of LSTMs, or of languages that share nothing, as users load them.

`config.json` has their `architecture`, and `model.safetensors` by name:

    known.{unit}[.{language}]               bool [pieces], as in a `AverageEncoder`
    sentencepiece.{unit}[.{language}]       uint8, the model; of all vocabularies but the first
    {part}.embeddings[.{language}]          float32 [pieces, dim]
    {part}.unknown[.{language}]             float32 [dim]
    {part}.lstm.{name}[.{language}]         weights of `recurrent.RecurrentPooling`

A language stands where the two do not share; of overlapping vocabularies, each has a copy of what is shared.
"""

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import sentencepiece

from paraphrastic.base.errors import InputError
from paraphrastic.config.architecture import Architecture, Part
from paraphrastic.model.averaged import PARTS, Float32, SentenceEncoder, Vectors
from paraphrastic.model.unknown_pieces import with_unknown_pieces

if TYPE_CHECKING:
    from paraphrastic.model.pieces import Cutter, Pieces

Tensors = Mapping[str, npt.NDArray[Any]]

# Sentences whose token embeddings are gathered at a time: 256 of 20 tokens are 20 MB at 1,024 dimensions.
_LSTM_SENTENCES = 256
# Among a sentence's tokens in several units; no piece has this id.
_END_OF_UNIT = -1


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What one language's sentences are cut into.

    Attributes:
        unit: one of `units.UNITS`.
        processor: the sentencepiece model.
        known: bool [pieces], false for pieces that training never met; they do not count.
    """

    unit: str
    processor: sentencepiece.SentencePieceProcessor
    known: npt.NDArray[np.bool_]


class CompositeEncoder(SentenceEncoder):
    """A trained model of any architecture; see the module for its tensors.

    Args:
        tensors: as `tensors` gives them, without the vocabularies'.
        vocabularies: by unit and language; the language is None where the languages share it.
        architecture: what the model is made of.
        config: what `config.json` holds.

    Raises:
        InputError: the tensors' sizes disagree.
        KeyError: a tensor is missing.
    """

    kind = PARTS

    def __init__(
        self,
        tensors: Tensors,
        vocabularies: Mapping[tuple[str, str | None], Vocabulary],
        architecture: Architecture,
        config: Mapping[str, Any],
    ) -> None:
        # One for all that share it, by which `tensors` tells vocabularies apart.
        lowercase = bool(config.get("lowercase"))
        shared = {id(each.processor): each.processor for each in vocabularies.values()}
        spelled = {
            key: with_unknown_pieces(processor, lowercase=lowercase) for key, processor in shared.items()
        }
        self.vocabularies = {
            key: replace(each, processor=spelled[id(each.processor)]) for key, each in vocabularies.items()
        }
        super().__init__(next(iter(self.vocabularies.values())).processor, config)
        self.architecture = architecture
        self.languages: tuple[str | None, ...] = (
            tuple(config["languages"]) if architecture.separate else (None,)
        )
        self._tensors = dict(tensors)
        self._parts = {
            language: [
                _part(self._tensors, number, part, architecture, language)
                for number, part in enumerate(architecture.parts)
            ]
            for language in self.languages
        }
        for (unit, language), vocabulary in self.vocabularies.items():
            pieces = vocabulary.processor.get_piece_size()
            for number, part in enumerate(architecture.parts):
                name = _named(f"{number}.embeddings", language)
                rows = len(self._tensors[name]) if part.unit == unit else pieces
                if rows != pieces or vocabulary.known.shape != (pieces,):
                    raise InputError(f"{name} has {rows} rows, but its vocabulary {pieces} pieces")

    @classmethod
    def from_tensors(
        cls,
        tensors: Tensors,
        processor: sentencepiece.SentencePieceProcessor,
        config: Mapping[str, Any],
    ) -> Self:
        """The model of a folder: its tensors, its sentencepiece model and its configuration.

        Raises:
            InputError: they do not fit each other.
            KeyError: a tensor or a key is missing.
        """
        try:
            architecture = Architecture.from_json(config["architecture"])
        except (TypeError, ValueError) as error:
            raise InputError(f"the architecture in its configuration is not one: {error}") from None
        languages = tuple(config["languages"]) if architecture.separate else (None,)
        separate = architecture.vocabularies != "shared"
        found: dict[tuple[str, str | None], Vocabulary] = {}
        for unit in architecture.units:
            shared = None
            for language in languages:
                if found and (separate or shared is None):
                    name = _named(f"sentencepiece.{unit}", language if separate else None)
                    shared = _processor(tensors[name], name)
                else:
                    shared = shared or processor
                known = tensors[_named(f"known.{unit}", language)]
                found[unit, language] = Vocabulary(unit, shared, known)
        own = {name: value for name, value in tensors.items() if name[0].isdigit()}
        return cls(own, found, architecture, config)

    @property
    def dim(self) -> int:
        """Dimension of the sentence vectors."""
        dimensions = [part.dim for part in self._parts[self.languages[0]]]
        return sum(dimensions) if self.architecture.combine == "concatenate" else dimensions[0]

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """What `model.safetensors` holds, by name."""
        found = dict(self._tensors)
        written = {id(self.processor)}
        for (unit, language), vocabulary in self.vocabularies.items():
            found[_named(f"known.{unit}", language)] = vocabulary.known
            if id(vocabulary.processor) not in written:
                written.add(id(vocabulary.processor))
                own = language if self.architecture.vocabularies != "shared" else None
                proto = np.frombuffer(vocabulary.processor.serialized_model_proto(), np.uint8)
                found[_named(f"sentencepiece.{unit}", own)] = proto
        return found

    @property
    def digest(self) -> str:
        """SHA-256 of everything that decides a sentence's vector."""
        architecture = json.dumps(self.architecture.to_json(), sort_keys=True)
        return hashlib.sha256((super().digest + architecture).encode()).hexdigest()

    def _check_language(self, language: str | None) -> None:
        if self.architecture.separate and language not in self.languages:
            choices = " or ".join(map(repr, self.languages))
            raise InputError(
                f"this model has parameters of their own for its languages: language is to be {choices}, "
                f"not {language!r}"
            )

    def known_tokens(self, sentences: Sequence[str], *, language: str | None = None) -> list[list[int]]:
        """Ids of the pieces that each sentence's vector is made of; of several units, one after the other."""
        units = self.tokenize(sentences, language=language).units.values()
        by_unit = zip(*(pieces.lists() for pieces in units), strict=True)
        return [[piece for own in of_units for piece in (*own, _END_OF_UNIT)] for of_units in by_unit]

    @functools.cached_property
    def _cutters(self) -> "dict[tuple[str, str | None], Cutter]":
        # Not at the top: what compiles kernels takes half a second.
        from paraphrastic.model.pieces import Cutter

        return {
            key: Cutter(vocabulary.processor, vocabulary.known, vocabulary.unit)
            for key, vocabulary in self.vocabularies.items()
        }

    def _tokens(self, texts: Sequence[str], language: str | None) -> "_Tokens":
        language = language if self.architecture.separate else None
        units = {unit: self._cutters[unit, language].cut(texts) for unit in self.architecture.units}
        has_text = np.logical_or.reduce([pieces.has_text for pieces in units.values()])
        return _Tokens(units, has_text, language)

    def embed_tokens(
        self, tokens: "_Tokens", *, normalize: bool = False, vectors: Vectors | None = None
    ) -> Vectors:
        """Vectors of sentences that `tokenize` has cut, [n, dim]; in `vectors`, if they are given."""
        if vectors is None:
            vectors = np.empty((len(tokens.has_text), self.dim), np.float32)
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
        return vectors


@dataclass(frozen=True, slots=True)
class _Tokens:
    """Sentences cut into all units.

    Attributes:
        units: known pieces, by unit.
        has_text: false for sentences without any piece. [n]
        language: of the tables; None where the languages share them.
    """

    units: "Mapping[str, Pieces]"
    has_text: npt.NDArray[np.bool_]
    language: str | None


class _AveragePart:
    """An average; the table's last row is the unknown one, of sentences without any that is known."""

    def __init__(self, table: Float32, part: Part) -> None:
        self.table = table
        self.part = part
        self.dim = table.shape[1]

    def embed(self, pieces: "Pieces") -> Float32:
        """Vectors of sentences, [n, dim]."""
        from paraphrastic.model.kernels import average

        vectors = np.empty((len(pieces.has_text), self.dim), np.float32)
        ones = np.ones(len(self.table), np.float32)
        everywhere = np.ones_like(pieces.has_text)
        average(self.table, ones, pieces.pieces, pieces.ends, everywhere, self.table[-1], False, vectors)
        return vectors


class _RecurrentPart(_AveragePart):
    """States of an LSTM over the rows."""

    def __init__(self, table: Float32, part: Part, weights: Tensors) -> None:
        super().__init__(table, part)
        try:
            # Not at the top: averages do without torch.
            import torch

            from paraphrastic.model.recurrent import RecurrentPooling
        except ImportError:
            raise InputError("an LSTM needs torch, which is not installed: pip install torch") from None
        width = weights["directions.0.u"].shape[1]
        self.dim = 2 * width if part.directions == "concatenate" else width
        self._lstm = RecurrentPooling(
            table.shape[1],
            self.dim,
            bidirectional=part.kind == "bilstm",
            pooling=part.pooling,
            directions=part.directions,
        )
        try:
            self._lstm.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
        except RuntimeError as error:
            cause = " ".join(str(error).split())
            raise InputError(f"the weights of its LSTM do not fit its architecture: {cause}") from None

    def embed(self, pieces: "Pieces") -> Float32:
        """Vectors of sentences, [n, dim]."""
        import torch

        vectors = np.empty((len(pieces.has_text), self.dim), np.float32)
        counts = np.diff(pieces.ends)
        # As in training, a sentence without any piece has the unknown one.
        rows = np.insert(pieces.pieces, pieces.ends[:-1][counts == 0], len(self.table) - 1)
        counts = np.maximum(counts, 1)
        starts = np.cumsum(counts) - counts
        # Sentences of about the same length together, which is what LSTMs are fast on.
        order = np.argsort(counts, kind="stable")
        before = torch.get_num_threads()
        # Other blocks of sentences have the other threads.
        torch.set_num_threads(1)
        try:
            with torch.no_grad():
                for start in range(0, len(order), _LSTM_SENTENCES):
                    own = order[start : start + _LSTM_SENTENCES]
                    tokens = np.concatenate([rows[starts[i] : starts[i] + counts[i]] for i in own])
                    vectors[own] = self._lstm(torch.from_numpy(self.table[tokens]), counts[own]).numpy()
        finally:
            torch.set_num_threads(before)
        return vectors


def _part(
    tensors: Tensors, number: int, part: Part, architecture: Architecture, language: str | None
) -> _AveragePart:
    embeddings = tensors[_named(f"{number}.embeddings", language)]
    unknown = tensors[_named(f"{number}.unknown", language)]
    if unknown.shape != embeddings.shape[1:]:
        raise InputError(f"{number}.unknown does not have the dimension of {number}.embeddings")
    table = np.concatenate([embeddings, unknown[None]])
    if not part.recurrent:
        return _AveragePart(table, part)
    own = language if architecture.languages == "separate" else None
    prefix, suffix = f"{number}.lstm.", f".{own}" if own else ""
    weights = {
        name.removeprefix(prefix).removesuffix(suffix): value
        for name, value in tensors.items()
        if name.startswith(prefix) and name.endswith(suffix)
    }
    if not weights:
        raise KeyError(f"{prefix}{own or '*'}")
    return _RecurrentPart(table, part, weights)


def _named(name: str, language: str | None) -> str:
    return f"{name}.{language}" if language else name


def _processor(proto: npt.NDArray[np.uint8], name: str) -> sentencepiece.SentencePieceProcessor:
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=proto.tobytes())
    except RuntimeError as error:
        raise InputError(f"{name} is no sentencepiece model: {error}") from None
