"""What settings and sources do to development data: `python benchmarks/recipe.py VARIANTS.yaml`.

Run it where `config/open.yaml` has made the training data of a model, and the test sets `sts` and `senteval`.
Each variant is a model that is trained from the same pairs, and is scored on development data alone:
Pearson's r × 100 on STS 2017 en-en (`sts17`), the development part of the STS Benchmark (`stsb`) and the
training part of SICK-R (`sick`); the area under the ROC curve × 100 on the training part of MRPC (`mrpc`);
and, for groups of each source that are held out from training, the share of sentences × 100 whose own partner
is nearest among the partners in that source, averaged over the sources (`held_out`). `mean` is the mean of
these five. Each variant and seed appends a row to results/benchmarks/recipe.csv.

A variant is a mapping with any of these keys: `training`, which overrides settings of the model's training;
`without`, sources that are left out; `weights`, how often the pairs of a source are read in an epoch, as a
number such as 2 or 0.5; `pairs_per_group`, how many pairs of a group are read at most; and `model`, the
definition whose training data and vocabulary are used.
"""

import argparse
import csv
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import yaml
from scipy.stats import rankdata

from paraphrastic import load_model
from paraphrastic.base.arrays import Bool, Float32, Float64, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic.model.encoder import SentenceEncoder, cosines
from paraphrastic.quality.correlation import pearson
from paraphrastic_pipeline.evaluation.testsets import read_testsets
from paraphrastic_pipeline.settings.check import check_config, read_config
from paraphrastic_pipeline.settings.sections.configuration import Configuration
from paraphrastic_pipeline.training.dataset import GROUPS, SIDES, append_sentences, create_side, new_dataset
from paraphrastic_pipeline.training.initialization import TrainingInputs
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.train import train_model
from paraphrastic_pipeline.workflow.models import teacher_name

HELD_OUT = 400
COLUMNS = ("variant", "seed", "pairs", "seconds", "sts17", "stsb", "sick", "mrpc", "held_out", "mean")
TEST_COLUMNS = ("sts_pearson", "sts_spearman", "stsb_test")


def main() -> None:
    """Do what the command line asks for; an error is one line."""
    try:
        run()
    except InputError as error:
        raise SystemExit(f"recipe.py: error: {error}") from None


def run() -> None:
    """Train and score the variants, and append a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("variants", type=Path, help="YAML file with a mapping of names to variants")
    parser.add_argument("--only", nargs="+", help="names of the variants to train; by default all")
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=[1], help="one training for each (default: 1)"
    )
    parser.add_argument("--configfile", type=Path, default=Path("config/open.yaml"))
    parser.add_argument("--model", default="en", help="the definition that variants change (default: en)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--test", action="store_true", help="also score on the test sets, to report them")
    parser.add_argument("--keep", type=Path, help="folder to keep the trained models in")
    arguments = parser.parse_args()
    for path in (arguments.variants, arguments.configfile):
        if not path.is_file():
            raise InputError(f"{path}: there is no such file; run this in the project's folder")
    variants = yaml.safe_load(arguments.variants.read_text(encoding="utf-8"))
    if unknown := set(arguments.only or ()) - set(variants):
        parser.error(f"{arguments.variants} has no variant {', '.join(sorted(unknown))}")
    config, _ = check_config(read_config([arguments.configfile]))
    for name in arguments.only or variants:
        check_model(config, (variants[name] or {}).get("model", arguments.model))
    output = Path("results/benchmarks/recipe.csv")
    output.parent.mkdir(parents=True, exist_ok=True)
    columns = [*COLUMNS, *(TEST_COLUMNS if arguments.test else ())]
    for name in arguments.only or variants:
        variant = variants[name] or {}
        for seed in arguments.seeds:
            row = {"variant": name, "seed": seed} | measure(config, arguments, variant, seed)
            print("  ".join(f"{column} {row[column]}" for column in columns), flush=True)
            is_new = not output.exists()
            with output.open("a", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, [*COLUMNS, *TEST_COLUMNS], restval="")
                if is_new:
                    writer.writeheader()
                writer.writerow(row)


def check_model(config: Configuration, model: str) -> None:
    """Refuse a model that is not defined, or whose training data are not there."""
    if model not in config.definitions:
        raise InputError(
            f"definitions: there is no model {model!r}; there are {', '.join(config.definitions)}"
        )
    needed = [f"results/corpora/{model}/pairs.parquet", f"results/corpora/{model}/counts.json"]
    needed += [f"results/datasets/{model}/train.h5", f"results/vocabulary/{model}/sentencepiece.model"]
    needed += [f"results/testsets/{name}.parquet" for name in ("sts", "senteval")]
    if missing := next((path for path in needed if not Path(path).is_file()), None):
        raise InputError(f"{missing}: is missing; make it with snakemake first")


def measure(
    config: Configuration, arguments: argparse.Namespace, variant: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Train a variant and return the other cells of its row."""
    model = variant.get("model", arguments.model)
    first = next(iter(config.definitions[model].runs.values()))
    settings = replace(first, **variant.get("training", {}), seed=seed)
    pairs = pd.read_parquet(f"results/corpora/{model}/pairs.parquet")
    names, texts = sources(model)
    if unknown := {*variant.get("without", ()), *variant.get("weights", {})} - {*names}:
        raise SystemExit(f"{model} has no source {', '.join(sorted(unknown))}; it has {', '.join(names)}")
    # A sentence without a pair has no partner to find, and nothing is trained on it.
    alone = np.isin(pairs["corpus"], texts)
    held_out = held_out_groups(pairs) & ~alone
    with tempfile.TemporaryDirectory(dir="results/benchmarks") as folder:
        data = Path(folder, "train.h5")
        chosen = training_rows(pairs, names, held_out | alone, variant, seed)
        write_rows(Path(f"results/datasets/{model}/train.h5"), chosen, data)
        tables = None
        if settings.init == "teacher":
            tables = Path(f"results/teachers/{model}/{teacher_name(settings.teacher or '')}/tables.h5")
            if not tables.is_file():
                raise InputError(f"{tables}: is missing; make it with snakemake first")
        inputs = TrainingInputs(
            dataset=data,
            tables=tables,
            sentencepiece=[Path(f"results/vocabulary/{model}/sentencepiece.model")],
            settings=settings,
            config={"model": model, "languages": ["en"], "lowercase": config.text.lowercase},
        )
        begun = time.monotonic()
        train_model(inputs, Path(folder, "model"), threads=arguments.threads)
        seconds = time.monotonic() - begun
        encoder = load_model(Path(folder, "model"))
        if arguments.keep:
            shutil.copytree(Path(folder, "model"), arguments.keep, dirs_exist_ok=True)
    scores = dict(development_scores(encoder, pairs[held_out]))
    row = {"pairs": len(chosen), "seconds": seconds, **scores, "mean": np.mean(list(scores.values()))}
    if arguments.test:
        row |= test_scores(encoder)
    return {key: f"{value:.2f}" if isinstance(value, float) else value for key, value in row.items()}


def sources(model: str) -> tuple[list[str], list[int]]:
    """The model's corpora, in the order of the column `corpus` of its pairs, and which have no pairs."""
    corpora = read_json(Path(f"results/corpora/{model}/counts.json"))["corpora"]
    names = [Path(each["file"]).parent.name for each in corpora]
    return names, [number for number, each in enumerate(corpora) if each.get("without_pairs")]


def held_out_groups(pairs: pd.DataFrame) -> Bool:
    """Whether each pair is of one of the `HELD_OUT` groups that are held out of each source."""
    groups = pairs[["corpus", "line"]].drop_duplicates()
    order = np.random.default_rng(0).permutation(len(groups))
    chosen = groups.iloc[order].groupby("corpus", sort=False).head(HELD_OUT)
    return pd.MultiIndex.from_frame(pairs[["corpus", "line"]]).isin(pd.MultiIndex.from_frame(chosen))


def training_rows(
    pairs: pd.DataFrame, names: list[str], left_out: Bool, variant: Mapping[str, Any], seed: int
) -> Int64:
    """The rows that a variant reads; weights above 1 repeat rows, and those below 1 leave some out."""
    weights = np.array([variant.get("weights", {}).get(name, 1.0) for name in names], np.float64)
    weights[[names.index(name) for name in variant.get("without", ())]] = 0.0
    of_row = weights[pairs["corpus"].to_numpy()]
    draws = np.random.default_rng([seed, 7]).random(len(of_row))
    times = np.floor(of_row).astype(np.int64) + (draws < of_row % 1.0)
    times[left_out] = 0
    if most := variant.get("pairs_per_group"):
        # Pairs are in random order.
        place = pairs.groupby(["corpus", "line"]).cumcount().to_numpy()
        times[place >= most] = 0
    return np.repeat(np.arange(len(of_row)), times)


def write_rows(dataset: Path, rows: Int64, output: Path) -> None:
    """Write training data with these rows only."""
    shuffled = np.random.default_rng(0).permutation(rows)
    with PairDataset(dataset) as read, h5py.File(dataset) as original:
        sides = read.read(0, len(read))
        with new_dataset(output) as file:
            for unit in read.units:
                for name, array in original[unit.unit].items():
                    if name not in SIDES:
                        file.create_dataset(f"{unit.unit}/{name}", data=array[:])
                file[unit.unit].attrs.update(original[unit.unit].attrs)
                for name, side in zip(SIDES, sides, strict=True):
                    create_side(file[unit.unit], name)
                    append_sentences(file[unit.unit][name], replace(side, groups=None).take(shuffled))
            if (groups := sides[0].groups) is not None:
                create_side(file, GROUPS)
                append_sentences(file[GROUPS], groups.take(shuffled))


def development_scores(encoder: SentenceEncoder, held_out: pd.DataFrame) -> Iterator[tuple[str, float]]:
    """The name and value of each score on development data."""
    sts = read_testsets(Path("results/testsets/sts.parquet"))
    yield "sts17", correlation(encoder, sts.query("year == '2017' and dataset == 'en-en'"))
    yield "stsb", correlation(encoder, sts.query("year == 'stsb' and dataset == 'dev'"))
    transfer = read_testsets(Path("results/testsets/senteval.parquet")).query("part == 'train'")
    sick = transfer[transfer["dataset"] == "SICK"].rename(columns={"score": "gold"})
    yield "sick", correlation(encoder, sick)
    mrpc = transfer[transfer["dataset"] == "MRPC"]
    yield "mrpc", area(similarities(encoder, mrpc), mrpc["label"].to_numpy())
    shares = []
    for _, of_source in held_out.drop_duplicates(["corpus", "line"]).groupby("corpus"):
        source, target = (unit(encoder.embed_raw_text(of_source[side].to_list())) for side in SIDES)
        shares.append(float(np.mean((source @ target.T).argmax(axis=1) == np.arange(len(source)))))
    yield "held_out", 100.0 * float(np.mean(shares))


def test_scores(encoder: SentenceEncoder) -> dict[str, float]:
    """Scores on the test sets, which nothing may be chosen by."""
    sts = read_testsets(Path("results/testsets/sts.parquet")).dropna(subset="gold")
    years = sts[sts["year"].isin(["2012", "2013", "2014", "2015", "2016"])]
    means, ranks = [], []
    for _, year in years.groupby("year", sort=False):
        means.append(np.mean([correlation(encoder, each) for _, each in year.groupby("dataset")]))
        ranks.append(correlation(encoder, year, ranked=True))
    test = correlation(encoder, sts.query("year == 'stsb' and dataset == 'test'"))
    return {"sts_pearson": float(np.mean(means)), "sts_spearman": float(np.mean(ranks)), "stsb_test": test}


def correlation(encoder: SentenceEncoder, pairs: pd.DataFrame, *, ranked: bool = False) -> float:
    """Pearson's r × 100, or Spearman's ρ × 100."""
    pairs = pairs.dropna(subset="gold")
    given, gold = similarities(encoder, pairs), pairs["gold"].to_numpy()
    return 100.0 * pearson(*map(rankdata, (given, gold)) if ranked else (given, gold), name="development")


def similarities(encoder: SentenceEncoder, pairs: pd.DataFrame) -> Float64:
    """Cosines of the pairs."""
    return cosines(*(encoder.embed_raw_text(pairs[f"sentence{side}"].to_list()) for side in (1, 2)))


def area(scores: Float64, labels: Int64) -> float:
    """The area under the ROC curve × 100."""
    ranks, positive = rankdata(scores), labels == 1
    n = int(positive.sum())
    return 100.0 * float((ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(labels) - n)))


def unit(vectors: Float32) -> Float32:
    """The vectors in unit length."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


if __name__ == "__main__":
    main()
