"""Encoder architectures, and a small corpus that is encoded for each of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from pair_files import write_pairs
from small_corpus import sentence_pairs, trained_vocabulary
from training_runs import CONFIG, SETTINGS

from paraphrastic.model.architecture import Architecture, Part
from paraphrastic_pipeline.settings.check import complete_definition
from paraphrastic_pipeline.training import train
from paraphrastic_pipeline.training.dataset import encode_dataset
from paraphrastic_pipeline.training.encoder_modules import RecurrentEmbeddings
from paraphrastic_pipeline.training.inputs import TrainingInputs
from paraphrastic_pipeline.training.sentences import Sentences

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
            definition = complete_definition(
                {
                    "languages": ["en", "de"],
                    "corpora": ["a"],
                    "encoder": {key: architecture.to_json()[key] for key in ("parts", "languages")},
                    "vocabulary": {"languages": architecture.vocabularies},
                }
            )
            units: dict[str, list[Path]] = {}
            for name, (unit, sides) in definition.vocabularies.items():
                size = 60 if unit == "subword" else 500
                path = trained_vocabulary(
                    self.pairs, folder / f"{name}.model", unit=unit, sides=sides, size=size
                )
                units.setdefault(unit, []).append(path)
            encode_dataset(
                self.pairs,
                [
                    {"unit": unit, "models": tuple(models), "max_pieces": None}
                    for unit, models in units.items()
                ],
                folder / "train.h5",
                tables=architecture.tables,
                threads=1,
            )
            self.made[architecture] = (
                folder / "train.h5",
                [path for models in units.values() for path in models],
            )
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
