"""Training runs to interrupt and to compare."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_corpus import sentence_pairs, write_training_data

from paraphrastic_pipeline.settings.sections.fields import recipe_values
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training import train
from paraphrastic_pipeline.training.autograd import AutogradEngine
from paraphrastic_pipeline.training.fused import FusedEngine
from paraphrastic_pipeline.training.inputs import TrainingInputs

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
    train.train_model(inputs, output, threads=1, checkpoint_minutes=minutes, **more)
    return output / "model.safetensors"


@contextmanager
def steps_seen(see: Callable[[int, float], float]) -> Iterator[None]:
    """Call `see` with the number and the loss of each step, which takes what it returns as its loss."""
    steps = 0

    def counted(plain: Callable[..., float]) -> Callable[..., float]:
        def step(*arguments: Any) -> float:
            nonlocal steps
            steps += 1
            return see(steps, plain(*arguments))

        return step

    with pytest.MonkeyPatch.context() as patch:
        for engine in (FusedEngine, AutogradEngine):
            patch.setattr(engine, "step", counted(engine.step))
        yield


@contextmanager
def interrupted_at(last: int) -> Iterator[None]:
    """Interrupt a training in the `with` block at this step."""

    def see(step: int, loss: float) -> float:
        if step == last:
            raise KeyboardInterrupt
        return loss

    with steps_seen(see), pytest.raises(KeyboardInterrupt):
        yield


def history(model: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's history without the values that depend on the clock."""
    lines = [json.loads(line) for line in (model.parent / "training.jsonl").read_text().splitlines()]
    return [
        {name: value for name, value in line.items() if name not in ("seconds", "pairs_per_second")}
        for line in lines
    ]
