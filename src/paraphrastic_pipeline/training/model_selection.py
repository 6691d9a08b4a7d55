"""Choose the best run of a sweep as the model."""

import logging
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from paraphrastic.base.files import atomic_output, read_json
from paraphrastic.model.files import CONFIG, MODULES, TOKENIZER, TRANSFORMER, WEIGHTS
from paraphrastic.model.folder import FILES, read_config
from paraphrastic.model.transformer import POOLING, TRANSFORMER_FILES
from paraphrastic_pipeline.base.tables import read_csv, write_csv

log = logging.getLogger(__name__)

# `held_out` and `sts2017` are the scores of `evaluation.development`, of which `development` decides, and
# `chosen` marks the run that became the model.
SWEEP = ["dropout", "megabatch", "mining_precision", "held_out", "sts2017", "development", "chosen"]
_SCORES = SWEEP[3:6]
# Scores on fewer pairs say little.
MANY = 100


def choose_model(scores: Sequence[Path], sweep: Path) -> None:
    """Copy the run with the highest development score, and write the table of the sweep beside it.

    If several runs have the highest score, the first one is taken, and so it is if there is no score. Files
    for other libraries are removed from the folder, because they belong to the model that it held before.

    Args:
        scores: the `development.json` of each run, in the folder of the run's model.
        sweep: CSV file with the scores of all runs, in the folder of the chosen model.
    """
    output = sweep.parent
    values = [read_json(score) for score in scores]
    chosen = max(range(len(scores)), key=lambda run: values[run].get("development", 0.0))
    folder = scores[chosen].parent
    log.info("%s: chosen from %d runs with the scores %s", folder, len(scores), values[chosen])
    if len(scores) > 1 and values[chosen].get("held_out_pairs", MANY) < MANY:
        log.warning("warning: only %d held-out pairs compare the runs", values[chosen]["held_out_pairs"])
    names = [*_files(folder), CONFIG]
    _copy(folder, output, names)
    # With these files, other libraries would read the new weights with the pieces of the previous model.
    for name in {TOKENIZER, MODULES}.difference(names):
        (output / name).unlink(missing_ok=True)
    runs = []
    for index, (score, value) in enumerate(zip(scores, values, strict=True)):
        training = read_config(score.parent)["training"]
        settings = tuple(training[name] for name in SWEEP[:3])
        figures = (f"{value[name]:.2f}" if name in value else "" for name in _SCORES)
        cells = (*settings, *figures, "yes" if index == chosen else "")
        runs.append(dict(zip(SWEEP, cells, strict=True)))
    write_csv(sweep, SWEEP, runs)


def average_runs(models: Sequence[Path], weights: Path) -> None:
    """Average the parameters of runs (Wortsman et al. 2022, *Model soups*); all else is that of the first.

    Args:
        models: the weights of the runs, which began with the same parameters.
        weights: the averaged weights; the model's other files are written beside them.
    """
    averaged, *others = map(load_file, models)
    first, output = models[0].parent, weights.parent
    for name, array in averaged.items():
        if array.dtype == np.float32:
            averaged[name] = np.stack([array, *(other[name] for other in others)]).mean(axis=0)
    with atomic_output(weights) as temporary:
        save_file(averaged, temporary)
    _copy(first, output, {*_files(first), CONFIG} - {WEIGHTS})


def _copy(folder: Path, output: Path, names: Iterable[str]) -> None:
    for name in names:
        with atomic_output(output / name) as temporary:
            shutil.copyfile(folder / name, temporary)


def _files(folder: Path) -> list[str]:
    """The names of a model's files in its folder, besides its configuration."""
    encoder = read_config(folder)["encoder"]
    if encoder != TRANSFORMER:
        return [*FILES[encoder]]
    modules = (path for path in sorted((folder / POOLING).rglob("*")) if path.is_file())
    return [
        *(name for name in TRANSFORMER_FILES if name != CONFIG),
        *(path.relative_to(folder).as_posix() for path in modules),
    ]


def tabulate_sweep(sweeps: Sequence[Path], table: Path, *, models: Sequence[str]) -> None:
    """Write the sweeps of all models as one table: `model`, and the columns `SWEEP`.

    Args:
        sweeps: the CSV file of `choose_model` for each model, in the order of the rows.
        table: the CSV file.
        models: the model of each sweep.
    """
    rows = [
        {"model": model, **row} for model, path in zip(models, sweeps, strict=True) for row in read_csv(path)
    ]
    write_csv(table, ["model", *SWEEP], rows)
