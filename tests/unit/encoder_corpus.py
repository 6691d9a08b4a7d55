"""Encoder architectures, and a small corpus that is encoded for each of them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pair_files import write_pairs
from small_corpus import sentence_pairs
from training_runs import CONFIG, SETTINGS

from paraphrastic.model.architecture import Architecture, Part
from paraphrastic_pipeline.settings.check import complete_definition
from paraphrastic_pipeline.settings.sections.configuration import Definition
from paraphrastic_pipeline.training import train
from paraphrastic_pipeline.training.dataset import encode_dataset
from paraphrastic_pipeline.training.encoder_modules import RecurrentEmbeddings
from paraphrastic_pipeline.training.inputs import TrainingInputs
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.vocabulary import train_vocabulary

SHORT = replace(SETTINGS, dimension=12, epochs=2, megabatch=2, init_std=0.5, engine="auto", dropout=0.2)
LSTM = Part(kind="lstm", unit="word")
ARCHITECTURES = {
    "average": Architecture(),
    "lstm": Architecture(parts=(LSTM,), scramble=0.3),
    "bilstm": Architecture(
        parts=(Part(kind="bilstm", pooling="max", dimension=10, directions="concatenate"),), scramble=0.3
    ),
    "mixed": Architecture(
        parts=(Part(unit="trigram"), Part(unit="word"), Part(kind="bilstm", unit="word", dimension=12)),
        combine="add",
        scramble=0.3,
    ),
    "peepholes": Architecture(
        parts=(Part(init_std=0.05), Part(kind="bilstm", unit="word", peepholes=True)), languages="separate"
    ),
    "concatenated": Architecture(parts=(Part(unit="trigram", dimension=7), LSTM), scramble=0.3),
    "separate parameters": Architecture(parts=(Part(), LSTM), languages="separate"),
    "separate vocabularies": Architecture(parts=(Part(), LSTM), vocabularies="separate"),
    "separate averages": Architecture(languages="separate"),
    "overlapping vocabularies": Architecture(parts=(Part(), LSTM), vocabularies="overlapping"),
    "overlapping averages": Architecture(vocabularies="overlapping"),
    "separate in everything": Architecture(
        parts=(Part(unit="word"), Part(kind="lstm")), languages="separate", vocabularies="separate"
    ),
}


def encoded(
    folder: Path,
    pairs: Path,
    definition: Definition,
    sizes: Mapping[str, int],
    *,
    vectors: Path | None = None,
    **changes: Any,
) -> tuple[Path, list[Path]]:
    """The training data of a definition's kind, with vocabularies of these sizes by unit, and these."""
    units: dict[str, dict[str, Any]] = {}
    for name, (unit, sides) in definition.vocabularies.items():
        own, model = definition.vocabulary.of_unit(unit), folder / f"{name}.model"
        settings = {key: getattr(own, key) for key in ("character_coverage", "unknown", "max_sentences")}
        settings |= {"unit": unit, "sides": sides, "size": sizes[unit], **changes}
        train_vocabulary(pairs, model, settings, vectors=vectors)
        limits = {"max_pieces": own.max_pieces, "shared_unknown": settings["unknown"] == "shared"}
        units.setdefault(unit, {"unit": unit, "models": [], **limits})["models"].append(model)
    tables = definition.architecture.tables
    encode_dataset(pairs, list(units.values()), folder / "train.h5", tables=tables, threads=1)
    return folder / "train.h5", [model for unit in units.values() for model in unit["models"]]


class Data:
    """The sample corpus, encoded once for each architecture."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pairs = write_pairs(folder / "pairs.parquet", sentence_pairs(300))
        self.made: dict[Architecture, tuple[Path, list[Path]]] = {}

    def __call__(self, architecture: Architecture) -> tuple[Path, list[Path]]:
        if architecture not in self.made:
            folder = self.folder / str(len(self.made))
            folder.mkdir()
            encoder = {key: architecture.to_json()[key] for key in ("parts", "languages")}
            vocabulary = {"languages": architecture.vocabularies, "unknown": "omit"}
            values = {"languages": ["en", "de"], "corpora": ["a"]}
            definition = complete_definition({**values, "encoder": encoder, "vocabulary": vocabulary})
            sizes = {"subword": 60, "word": 500, "trigram": 500}
            self.made[architecture] = encoded(folder, self.pairs, definition, sizes)
        return self.made[architecture]

    def inputs(self, architecture: Architecture, settings=SHORT, vectors=None) -> TrainingInputs:
        dataset, models = self(architecture)
        return TrainingInputs(
            dataset=dataset, sentencepiece=models, vectors=vectors, settings=settings,
            architecture=architecture, config=CONFIG,
        )  # fmt: skip

    def train(self, architecture: Architecture, output: Path, settings=SHORT, vectors=None, **named) -> Path:
        train.train_model(self.inputs(architecture, settings, vectors), output, threads=1, **named)
        return output


def random_tokens(lengths: list[int], rows: int = 30) -> Sentences:
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return Sentences(np.random.default_rng(0).integers(0, rows, offsets[-1]).astype(np.int32), offsets)


def recurrent(scramble: float = 0.0, **named) -> RecurrentEmbeddings:
    return RecurrentEmbeddings(
        30, 8, 6, init_std=1.0, seed=1, dropout=0.0, scramble=scramble,
        **{"part": LSTM, "second": None, **named},
    )  # fmt: skip
