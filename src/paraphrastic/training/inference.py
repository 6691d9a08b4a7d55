"""From parameters in training, whose rows follow the data, to the model that users load."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sentencepiece

from paraphrastic.config.architecture import Architecture
from paraphrastic.model.averaged import AverageEncoder, Float32, SentenceEncoder
from paraphrastic.model.composite import CompositeEncoder, Vocabulary
from paraphrastic.training.dataset import UnitTable

Tables = tuple[Float32, npt.NDArray[np.bool_], Float32]


def inference_model(
    weights: Mapping[str, Float32],
    units: Sequence[UnitTable],
    processors: Mapping[str, Sequence[sentencepiece.SentencePieceProcessor]],
    architecture: Architecture,
    config: Mapping[str, Any],
) -> SentenceEncoder:
    """The model with these parameters.

    Args:
        weights: parameters of a `TrainableEncoder`, by their names.
        units: rows of the tables, in the order of `architecture.units`.
        processors: by unit, its sentencepiece models, one or one a language.
        architecture: of the encoder.
        config: what `config.json` is to hold.
    """
    if architecture.averaged and not architecture.separate:
        (tensors,) = _by_language(weights["parts.0.table"], units[0])
        unit = architecture.units[0]
        return AverageEncoder(*tensors, processors[unit][0], {**config, "unit": unit})
    languages: Sequence[str | None] = config["languages"] if architecture.separate else [None]
    found: dict[str, npt.NDArray[Any]] = {}
    vocabularies: dict[tuple[str, str | None], Vocabulary] = {}
    for number, part in enumerate(architecture.parts):
        tables = _by_language(weights[f"parts.{number}.table"], units[architecture.units.index(part.unit)])
        of_unit = processors[part.unit]
        for place, (language, (embeddings, known, unknown)) in enumerate(zip(languages, tables, strict=True)):
            suffix = f".{language}" if language else ""
            found[f"{number}.embeddings{suffix}"] = embeddings
            found[f"{number}.unknown{suffix}"] = unknown
            processor = of_unit[min(place, len(of_unit) - 1)]
            vocabularies.setdefault((part.unit, language), Vocabulary(part.unit, processor, known))
            prefix = f"parts.{number}.lstms.{place}."
            own = suffix if architecture.languages == "separate" else ""
            for name, value in weights.items():
                if name.startswith(prefix):
                    found[f"{number}.lstm.{name.removeprefix(prefix)}{own}"] = value
    return CompositeEncoder(
        found, vocabularies, architecture, {**config, "architecture": architecture.to_json()}
    )


def _by_language(table: Float32, unit: UnitTable) -> list[Tables]:
    """The table in sentencepiece's order, for each language that has its own; see `AverageEncoder`."""
    found, start = [], 0
    for number, size in enumerate(unit.sizes):
        rows = np.flatnonzero((unit.pieces >= start) & (unit.pieces < start + size))
        pieces = unit.pieces[rows] - start
        if number:
            # Of what is spelled alike, the second language has a copy.
            source, target = unit.alike[np.isin(unit.alike[:, 0], unit.pieces)].T
            place = np.argsort(unit.pieces)
            shared = place[np.searchsorted(unit.pieces, source, sorter=place)]
            rows, pieces = np.append(rows, shared), np.append(pieces, target)
        own = table[np.append(rows, len(unit.pieces) + number)]
        found.append(embeddings_by_piece(own, pieces, size))
        start += size
    return found


def embeddings_by_piece(
    table: Float32, pieces: npt.NDArray[np.int32], n_pieces: int
) -> tuple[Float32, npt.NDArray[np.bool_], Float32]:
    """Reorder a training table, whose rows follow `pieces` and end with the unknown one.

    Returns:
        `embeddings` [n_pieces, dim] (zero rows for pieces without a row), `known` and `unknown` as
        `AverageEncoder` takes them.
    """
    embeddings = np.zeros((n_pieces, table.shape[1]), dtype=np.float32)
    embeddings[pieces] = table[:-1]
    known = np.zeros(n_pieces, dtype=np.bool_)
    known[pieces] = True
    return embeddings, known, table[-1].astype(np.float32)
