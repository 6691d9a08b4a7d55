"""Turn the parameters of training, whose rows follow the data, into the files of a model."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sentencepiece

from paraphrastic.base.arrays import Bool, Float32, Int32
from paraphrastic.model.architecture import Architecture
from paraphrastic.model.files import AVERAGE, COMPOSITE, ModelFiles, tensor_name
from paraphrastic_pipeline.training.pair_dataset import UnitTable
from paraphrastic_pipeline.training.vocabulary import spelled_alike

# A table with a row per piece: `embeddings`, `known` and `unknown`, as `AverageEncoder` takes them.
PieceTable = tuple[Float32, Bool, Float32]


def model_files(
    weights: Mapping[str, Float32],
    units: Sequence[UnitTable],
    processors: Mapping[str, Sequence[sentencepiece.SentencePieceProcessor]],
    architecture: Architecture,
    config: Mapping[str, Any],
    *,
    dimension: int,
) -> ModelFiles:
    """Make the files of the model whose `TrainableEncoder` has these parameters.

    `processors` holds the sentencepiece models of each unit, one for both languages or one for each. `config`
    holds entries of `config.json`, and `dimension` is the dimension of the embeddings.
    """
    protos = {
        unit: [processor.serialized_model_proto() for processor in models]
        for unit, models in processors.items()
    }
    first, *others = [
        (unit, place, proto) for unit in architecture.units for place, proto in enumerate(protos[unit])
    ]
    if architecture.averaged and not architecture.separate:
        (tables,) = tables_by_language(weights["parts.0.table"], units[0])
        tensors = dict(zip(("embeddings", "known", "unknown"), tables, strict=True))
        return ModelFiles(AVERAGE, tables[0].shape[1], tensors, first[2], {**config, "unit": first[0]})
    languages: Sequence[str | None] = config["languages"] if architecture.separate else [None]
    tensors_by_name: dict[str, npt.NDArray[Any]] = {}
    for unit, place, proto in others:
        suffix = languages[place] if architecture.vocabularies != "shared" else None
        tensors_by_name[tensor_name(f"sentencepiece.{unit}", suffix)] = np.frombuffer(proto, np.uint8)
    for number, part in enumerate(architecture.parts):
        of_unit = units[architecture.units.index(part.unit)]
        alike = spelled_alike(*processors[part.unit]) if architecture.tables == "overlapping" else None
        by_language = tables_by_language(weights[f"parts.{number}.table"], of_unit, alike)
        for place, (language, tables) in enumerate(zip(languages, by_language, strict=True)):
            names = (f"{number}.embeddings", f"known.{part.unit}", f"{number}.unknown")
            tensors_by_name |= {
                tensor_name(name, language): table for name, table in zip(names, tables, strict=True)
            }
            suffix = language if architecture.languages == "separate" else None
            prefix = f"parts.{number}.lstms.{place}."
            for name, value in weights.items():
                if name.startswith(prefix):
                    tensors_by_name[tensor_name(f"{number}.lstm.{name.removeprefix(prefix)}", suffix)] = value
    dimensions = [part.dimension or dimension for part in architecture.parts]
    total = sum(dimensions) if architecture.combine == "concatenate" else dimensions[0]
    config = {**config, "architecture": architecture.to_json()}
    return ModelFiles(COMPOSITE, total, tensors_by_name, first[2], config)


def tables_by_language(table: Float32, unit: UnitTable, alike: Int32 | None = None) -> list[PieceTable]:
    """Reorder a table by piece id, into one table or one per language.

    Pieces without a row get zeros, or the vector of unknown pieces if these share one. `alike` has the ids in
    both vocabularies of pieces that share a row, [k, 2].
    """
    by_language: list[PieceTable] = []
    for number, size in enumerate(unit.sizes):
        ids = sum(unit.sizes[:number]) + np.arange(size)
        if number and alike is not None:
            # The second language gets a copy of the embeddings of pieces that both spell alike.
            ids[alike[:, 1]] = alike[:, 0]
        rows, unknown = unit.row_of[ids], table[len(unit.pieces) + number]
        known = rows >= 0
        embeddings = np.where(known[:, None], table[rows], unknown if unit.shared_unknown else np.float32(0))
        by_language.append((embeddings, known | unit.shared_unknown, unknown))
    return by_language
