"""Training runs to interrupt and to compare."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_corpus import sentence_pairs, write_training_data

from paraphrastic_pipeline.settings.sections.fields import recipe_values
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training import train
from paraphrastic_pipeline.training.beginning import TrainingInputs
from paraphrastic_pipeline.training.loop import TrainingRun

SETTINGS = replace(
    TrainingSettings(**recipe_values(TrainingSettings, "paper"), dropout=0.0, megabatch=4, seed=3),
    dimension=16,
    epochs=4,
    batch_size=32,
    megabatch_anneal=5,
    learning_rate=0.03,
    exclude_duplicates=False,
    engine="fused",
)


def beyond_limits(settings: TrainingSettings, **values: Any) -> TrainingSettings:
    """Settings with values that no configuration may have, which show at small sizes what others show."""
    copied = replace(settings)
    for name, value in values.items():
        object.__setattr__(copied, name, value)
    return copied


CONFIG = {"model": "de", "languages": ["en", "de"], "lowercase": True, "segmentation": {}, "folding": {}}


def write_data(folder: Path) -> tuple[Path, Path]:
    """Write the data set and sentencepiece model of pairs with rare words, whose rows miss many steps."""
    generator = random.Random(1)
    rare = ["".join(generator.choices("bcdfgklmnprst", k=5)) for _ in range(150)]
    pairs = [
        (f"{source} {generator.choice(rare)}", f"{target} {generator.choice(rare)}")
        for source, target in sentence_pairs(500)
    ]
    return write_training_data(folder, pairs, size=300)


def training_inputs(data: tuple[Path, Path], settings: TrainingSettings) -> TrainingInputs:
    return TrainingInputs(dataset=data[0], sentencepiece=[data[1]], settings=settings, config=CONFIG)


def train_model(
    data: tuple[Path, Path],
    output: Path,
    settings: TrainingSettings,
    *,
    minutes: float = 60,
    **more: Any,
) -> Path:
    """Train, with checkpoints after this time and after each epoch, and return the model's weights."""
    inputs = training_inputs(data, settings)
    watching = train.Watching(checkpoint_minutes=minutes)
    train.train_model(inputs, output, threads=1, watching=watching, **more)
    return output / "model.safetensors"


def stopped(
    data: tuple[Path, Path],
    output: Path,
    settings: TrainingSettings,
    monkeypatch: pytest.MonkeyPatch,
    *,
    step: int,
    minutes: float = 0.0,
    **more: Any,
) -> list[Path]:
    """Interrupt a run at a step and return its checkpoints, newest first; it writes one after each step."""
    with interrupted_at(step, monkeypatch):
        train_model(data, output, settings, minutes=minutes, **more)
    assert not (output / "model.safetensors").exists()
    return sorted((output / "checkpoints").glob("*.safetensors"), reverse=True)


@contextmanager
def interrupted_at(step: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Interrupt a training in the `with` block at this step."""
    plain, steps = TrainingRun._step, 0

    def counted(run: TrainingRun, *arguments: Any, **named: Any) -> float:
        nonlocal steps
        steps += 1
        if steps == step:
            raise KeyboardInterrupt
        return plain(run, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_step", counted)
        with pytest.raises(KeyboardInterrupt):
            yield


def history(model: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's history without the values that depend on the clock."""
    lines = [json.loads(line) for line in (model.parent / "training.jsonl").read_text().splitlines()]
    return [
        {name: value for name, value in line.items() if name not in ("seconds", "pairs_per_second")}
        for line in lines
    ]
