r"""Trainings on the pairs of one model: `python benchmarks/comparison.py --model DIR ...`.

Trains three models and scores each on STS 2012–2016 in the course of its training: StaticEmbedding of
sentence-transformers, this library with the recipe of the paper, and this library with the model's own
settings. All have the same pairs, pieces, dimension, number of epochs and threads. Each first makes a few
steps, in which kernels are compiled and libraries are loaded, and scores do not count as time.

Writes comparison.csv and a picture of it into the folder of the output, beside the curve of each training
(static_embedding.csv, paper.csv, own.csv) and the two models of this library (paper/, own/). Here is an
example in a folder in which `snakemake` has made the model `en` of config/open.yaml:

  python benchmarks/comparison.py --model results/models/en --pairs results/corpora/en/pairs.parquet \
    --dataset results/datasets/en/train.h5 --points 20
"""

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import h5py
from comparison_figure import plot_comparison
from curves import OWN, PAPER, STATIC_EMBEDDING, tabulate_comparison, write_curve_of_run
from static_embedding import Pairs, StaticSettings, train_static_embedding

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json
from paraphrastic.model.architecture import Architecture, Part, Unit
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.files import SENTENCEPIECE, ModelFiles
from paraphrastic.model.folder import find_folder, open_files, open_folder
from paraphrastic_pipeline.evaluation.development import average_score
from paraphrastic_pipeline.settings.definitions import RECIPES
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.dataset import GROUPS, SIDES
from paraphrastic_pipeline.training.development import Development
from paraphrastic_pipeline.training.initialization import TrainingInputs
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.train import train_model

# Enough pairs for several mini-batches, and too few to take time.
_FEW = 2048
# Entries of config.json that say how the model itself was trained and stored.
_OF_TRAINING = ("training", "pairs", "reduction")


def main() -> None:
    """Do what the command line asks for; an error is one line."""
    try:
        compare(parsed())
    except InputError as error:
        raise SystemExit(f"comparison.py: error: {error}") from None


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--model", type=Path, required=True, help="folder of a trained model, which gives pieces and settings"
    )
    parser.add_argument("--pairs", type=Path, required=True, help="Parquet file of its training pairs")
    parser.add_argument("--dataset", type=Path, required=True, help="HDF5 file of the same pairs, encoded")
    parser.add_argument(
        "--testsets", type=Path, default=Path("results/testsets/sts.parquet"), help="STS (%(default)s)"
    )
    parser.add_argument("--epochs", type=_positive, help="passes over the pairs (the model's own)")
    parser.add_argument("--points", type=_positive, default=10, help="scores of each training (%(default)s)")
    parser.add_argument(
        "--max-pieces", type=_positive, default=100,
        help="where StaticEmbedding's sentences are cut off, as in the data (%(default)s)",
    )  # fmt: skip
    parser.add_argument("--threads", type=_positive, default=2, help="of each training (%(default)s)")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/comparison"), help="folder")
    return parser.parse_args()


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def compare(options: argparse.Namespace) -> None:
    """Train all models, and write their curves, the table and the picture.

    Raises:
        InputError: the model cannot be compared, a file is missing or damaged, or the files do not belong
            together.
    """
    folder, output = find_folder(options.model), options.output
    model = comparable(options.model)
    inputs = TrainingInputs(
        dataset=options.dataset,
        sentencepiece=[folder / SENTENCEPIECE],
        settings=own_settings(model, options.epochs),
        architecture=Architecture(parts=(Part(unit=cast(Unit, model.unit)),)),
        config={key: value for key, value in model.config.items() if key not in _OF_TRAINING},
    )
    pairs = Pairs.read(options.pairs)
    with PairDataset(options.dataset) as dataset:
        if len(dataset) != len(pairs):
            raise InputError(f"{options.dataset}: has {len(dataset)} pairs, but {options.pairs} {len(pairs)}")
    output.mkdir(parents=True, exist_ok=True)
    curves = {name: output / f"{name}.csv" for name in (STATIC_EMBEDDING, PAPER, OWN)}
    own = inputs.settings
    train_static_embedding(
        pairs, folder / SENTENCEPIECE, options.testsets, curves[STATIC_EMBEDDING], config=model.config,
        settings=StaticSettings(
            dimension=own.dimension, epochs=own.epochs, points=options.points,
            max_pieces=options.max_pieces, seed=own.seed,
        ),
        threads=options.threads,
    )  # fmt: skip
    scored = Development(scored_on(options.testsets), [options.testsets], own.epochs / options.points)
    for name, settings in ((PAPER, paper_settings(own)), (OWN, own)):
        print(f"training with the settings of {name}", flush=True)
        with few_pairs(replace(inputs, settings=settings)) as few:
            train_model(few, few.dataset.parent / "model", threads=options.threads)
        run = replace(inputs, settings=settings)
        train_model(run, output / name, threads=options.threads, development=scored)
        write_curve_of_run(output / name, curves[name], threads=options.threads)
    tabulate_comparison(output / "comparison.csv", **curves)
    plot_comparison([output / "comparison.svg", output / "comparison.png"], **curves)
    print((output / "comparison.csv").read_text(encoding="utf-8"), end="")


def comparable(place: Path) -> AverageEncoder:
    """Open a model that is like StaticEmbedding and was trained in a way that can be repeated here."""
    model = open_folder(place)
    if not isinstance(model, AverageEncoder) or model.unit == "trigram":
        raise InputError(
            f"{place}: is {model.label}; StaticEmbedding can be compared only with one average of subwords "
            "or words that all languages share"
        )
    if "en" not in model.config["languages"]:
        raise InputError(f"{place}: does not know English, the language of STS 2012–2016")
    training: Json = model.config.get("training", {})
    if not training.get("epochs"):
        raise InputError(f"{place}: is not trained at all by its config.json")
    for key, why in (("distil", "learns from a teacher"), ("initial_vectors", "begins with word vectors")):
        if training.get(key) is not None:
            raise InputError(f"{place}: {why}, so its training cannot be compared")
    return model


def own_settings(model: AverageEncoder, epochs: int | None) -> TrainingSettings:
    """The model's own settings, with which it trains once, on the processor, to the end.

    StaticEmbedding is trained in the same way. A score in the course of training is that of one training.
    """
    settings = TrainingSettings(**model.config["training"])
    return replace(
        settings, dimension=model.dim, epochs=epochs or settings.epochs, soup=1, coarser=(),
        trained_dimension=None, early_stopping=None, device="cpu",
    )  # fmt: skip


def paper_settings(own: TrainingSettings) -> TrainingSettings:
    """The settings of the paper's recipe; what the paper did not have is off."""
    paper = {**RECIPES["paper"], "epochs": own.epochs}
    return replace(own, init="random", max_negative_share=None, **paper)


def scored_on(testsets: Path) -> Callable[[ModelFiles], float]:
    """How a model is scored on STS 2012–2016 while it is trained."""
    return lambda files: average_score(open_files(files), testsets)


@contextmanager
def few_pairs(inputs: TrainingInputs) -> Iterator[TrainingInputs]:
    """The same inputs with a copy of the first pairs, in a folder that is removed at the end.

    Kernels are compiled when they are first used. A training on a few pairs keeps that from counting as time
    of the first training on a machine.
    """
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder, "few.h5")
        shutil.copyfile(inputs.dataset, few)
        with h5py.File(few, "r+") as file:
            units = [group for name, group in file.items() if name != GROUPS]
            of_pairs = [file[GROUPS]] if GROUPS in file else []
            for each in [*(unit[side] for unit in units for side in SIDES), *of_pairs]:
                each["offsets"].resize((min(len(each["offsets"]), _FEW + 1),))
                each["tokens"].resize((each["offsets"][-1],))
        settings = replace(inputs.settings, epochs=1)
        yield replace(inputs, dataset=few, settings=settings)


if __name__ == "__main__":
    main()
