"""What filters do for small corpora: `python benchmarks/filters.py --mirror FOLDER`.

For each language and size, clean pairs of Tatoeba are mixed with noise: of all pairs, 10 % are mismatched,
5 % are in another language, and 5 % are copies of the English side. A thousand clean pairs, whose sentences
occur in no other pair, are held out. Each variant of `VARIANTS` selects from the rest, a model is trained on
what is left as `paraphrastic new` would, and finds the partners of the held-out sentences. Each run appends a
row to results/benchmarks/filters.csv: the shares in percent of clean pairs and of each noise that are kept,
and of held-out sentences whose partner is nearest (`found`), the mean of both directions.
"""

import argparse
import csv
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from paraphrastic import load_model
from paraphrastic_pipeline.corpus.filter_files import FilterFiles
from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus
from paraphrastic_pipeline.corpus.score import TextSettings, score_pairs
from paraphrastic_pipeline.corpus.select import select_pairs
from paraphrastic_pipeline.settings.check import check_config
from paraphrastic_pipeline.settings.sections.fields import as_json
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.beginning import TrainingInputs
from paraphrastic_pipeline.training.dataset import UnitVocabulary, encode_dataset
from paraphrastic_pipeline.training.train import train_model
from paraphrastic_pipeline.training.vocabulary import VocabularySettings, train_vocabulary

CODES = {"ar": "ara", "de": "deu", "es": "spa", "fr": "fra", "ja": "jpn", "tr": "tur", "zh": "cmn"}
HELD_OUT = 1000
NOISE = {"mismatched": 0.10, "foreign": 0.05, "copy": 0.05}


def _length(least: int, count: str = "both") -> dict[str, Any]:
    return {"min": least, "max": 100, "count": count}


def _language(least: float, rule: str = "probability") -> dict[str, Any]:
    return {"rule": rule, "min_probability": least}


# Settings of `selection.bitext`.
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "none": {"length": None, "language": None},
    "best label 0.5, length 3": {"length": _length(3), "language": _language(0.5, "best")},
    "best label 0.5, length 1": {"length": _length(1), "language": _language(0.5, "best")},
    "probability 0.1, length 3": {"length": _length(3), "language": _language(0.1)},
    "probability 0.1, length 3 in English": {"length": _length(3, "first"), "language": _language(0.1)},
    "probability 0.1, length 2": {"length": _length(2), "language": _language(0.1)},
    "probability 0.1, length 1": {"length": _length(1), "language": _language(0.1)},
    "probability 0.3, length 1": {"length": _length(1), "language": _language(0.3)},
    "probability 0.01, length 1": {"length": _length(1), "language": _language(0.01)},
    "length 1": {"length": _length(1), "language": None},
}
COLUMNS = ("language", "size", "seed", "variant", "pairs", "clean", *NOISE, "found")


def main() -> None:
    """Run all combinations and append a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--mirror", type=Path, required=True, help="folder with www.manythings.org and fastText's model"
    )
    parser.add_argument(
        "--languages", nargs="+", default=["tr", "ar", "ja", "zh", "de"], choices=sorted(CODES)
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[2500, 10_000, 40_000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    output = Path("results/benchmarks/filters.csv")
    output.parent.mkdir(parents=True, exist_ok=True)
    for language, size, seed in product(arguments.languages, arguments.sizes, arguments.seeds):
        with tempfile.TemporaryDirectory() as folder:
            for row in rows(Path(folder), arguments, language, size, seed):
                print("  ".join(f"{name} {row[name]}" for name in COLUMNS), flush=True)
                is_new = not output.exists()
                with output.open("a", encoding="utf-8", newline="") as file:
                    writer = csv.DictWriter(file, COLUMNS)
                    if is_new:
                        writer.writeheader()
                    writer.writerow(row)


def rows(
    folder: Path, arguments: argparse.Namespace, language: str, size: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Score the noisy corpus once, and yield the row of each variant."""
    generator = np.random.default_rng([seed, size])
    pairs, held_out = noisy_pairs(arguments.mirror, language, size, generator)
    pairs.select("source", "target", "line").write_parquet(folder / "pairs.parquet")
    config, _ = check_config(
        {
            "models": [language],
            "definitions": {language: {"languages": ["en", language], "corpora": ["tatoeba_pairs"]}},
            "vocabulary": {"size": 8000},
            "training": {"dimension": 300, "epochs": 8},
        }
    )
    folding = {code: mode for code, mode in as_json(config.text.folding).items() if code == language}
    preparation: dict[str, Any] = {"lowercase": True, "folding": folding, "segmentation": {}}
    score_pairs(
        folder / "pairs.parquet", folder / "scored.parquet", languages=("en", language),
        identifier=arguments.mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz",
        word_vectors=None, text=TextSettings(**preparation),
    )  # fmt: skip
    settings = replace(next(iter(config.definitions[language].runs.values())), seed=seed)
    for variant in arguments.variants:
        select_pairs(
            [folder / "scored.parquet"],
            FilterFiles(folder / "selected.parquet", folder / "counts.json", folder / "dropped.tsv"),
            languages=("en", language), settings=VARIANTS[variant],
            preparation=preparation, seed=seed,
        )  # fmt: skip
        selected = pl.read_parquet(folder / "selected.parquet")
        kinds = pairs.filter(pl.col("line").is_in(selected["line"].implode()))["kind"].value_counts()
        kept = dict(kinds.iter_rows())
        totals = dict(pairs["kind"].value_counts().iter_rows())
        shares = {kind: f"{100 * kept.get(kind, 0) / totals[kind]:.1f}" for kind in ("clean", *NOISE)}
        merged = selected.unique(["source", "target"], maintain_order=True).sample(
            fraction=1, shuffle=True, seed=seed
        )
        found = trained_score(folder, merged, settings, preparation, held_out, language, arguments.threads)
        about = {"language": language, "size": size, "seed": seed, "variant": variant, "pairs": len(merged)}
        yield {**about, **shares, "found": f"{found:.1f}"}


def noisy_pairs(
    mirror: Path, language: str, size: int, generator: np.random.Generator
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pairs with their `kind`, of which the noise is a part, and clean pairs held out from them."""
    clean = tatoeba(mirror, language).unique(["source", "target"], maintain_order=True)
    clean = clean[generator.permutation(len(clean))]
    alone = clean.filter(pl.col("source").is_unique() & pl.col("target").is_unique())[:HELD_OUT]
    rest = clean.join(alone, on=["source", "target"], how="anti", maintain_order="left")[:size]
    source, target = rest["source"].to_list(), rest["target"].to_list()
    kinds = np.full(len(rest), "clean", object)
    order, start = generator.permutation(len(rest)), 0
    foreign = tatoeba(mirror, "fr" if language != "fr" else "es")["target"].to_list()
    for kind, share in NOISE.items():
        places = order[start : start + round(share * len(rest))]
        start += len(places)
        kinds[places] = kind
        before = [target[place] for place in np.roll(places, 1)]
        for number, place in enumerate(places):
            if kind == "mismatched":
                target[place] = before[number]
            else:
                target[place] = (
                    source[place] if kind == "copy" else foreign[int(generator.integers(len(foreign)))]
                )
    lines = list(range(1, len(rest) + 1))
    return pl.DataFrame({"source": source, "target": target, "line": lines, "kind": kinds.tolist()}), alone


def tatoeba(mirror: Path, language: str) -> pl.DataFrame:
    """The pairs of a language with English."""
    code = CODES[language]
    archive = mirror / f"www.manythings.org/anki/{code}-eng.zip"
    file = CorpusFile(archive, ("en", language), (f"{code}.txt",))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pairs.parquet")
        extract_corpus("manythings", [file], ("en", language), path, max_member_bytes=1 << 30)
        return pl.read_parquet(path, columns=["source", "target"])


def trained_score(
    folder: Path,
    pairs: pl.DataFrame,
    settings: TrainingSettings,
    preparation: Mapping[str, Any],
    held_out: pl.DataFrame,
    language: str,
    threads: int,
) -> float:
    """Train on the pairs; the share in percent of held-out sentences whose partner is nearest."""
    pairs.write_parquet(folder / "merged.parquet")
    train_vocabulary(
        folder / "merged.parquet",
        folder / "sp.model",
        VocabularySettings(
            size=8000, character_coverage=1.0, unknown="bytes", max_sentences=10_000_000, hard_limit=False
        ),
    )
    vocabulary = UnitVocabulary("subword", (folder / "sp.model",), None)
    encode_dataset(folder / "merged.parquet", [vocabulary], folder / "train.h5", threads=threads)
    about = {"model": language, "languages": ["en", language], "corpora": {}, "unit": "subword"}
    inputs = TrainingInputs(
        dataset=folder / "train.h5",
        sentencepiece=[folder / "sp.model"],
        settings=settings,
        config={**about, **preparation},
    )
    with tempfile.TemporaryDirectory(dir=folder) as output:
        train_model(inputs, Path(output), threads=threads)
        model = load_model(output)
    source, target = (
        model.embed_raw_text(held_out[side].to_list(), normalize=True) for side in ("source", "target")
    )
    similarity, own = source @ target.T, np.arange(len(source))
    return 50.0 * float(np.mean(similarity.argmax(1) == own) + np.mean(similarity.argmax(0) == own))


if __name__ == "__main__":
    main()
