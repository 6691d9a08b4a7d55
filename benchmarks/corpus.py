"""Speed and memory of the corpus steps: `python benchmarks/corpus.py [--pairs N …] [--repeats N]`.

The labels of a pair are measured on one core, in turns with a plain reference. Then each step runs on corpora
of several sizes in a process of its own, whose peak memory is measured. Sentences are those of the sample, in
random pairs with a number each. Writes results/benchmarks/corpus.json.
"""

import argparse
import multiprocessing
import random
import re
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import fasttext
from timing import medians, options_of

from paraphrastic.base.files import write_json
from paraphrastic_pipeline.corpus.contamination import mark_contamination
from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier
from paraphrastic_pipeline.corpus.merge import merge_pairs
from paraphrastic_pipeline.corpus.overlap import compare_words
from paraphrastic_pipeline.corpus.readers import extract_corpus
from paraphrastic_pipeline.corpus.score import score_pairs
from paraphrastic_pipeline.corpus.select import select_pairs
from paraphrastic_pipeline.corpus.testset_sentences import gather_testsets
from paraphrastic_pipeline.evaluation.sts_data import prepare_sts

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "data" / "sample"
PAPER = {
    "length": {"min": 5, "max": 40, "count": "mean"},
    "language": {"rule": "best", "min_probability": 0.0},
    "trigram_overlap": {"min": 0.0, "max": 0.7},
    "near_copy": None,
    "rank": None,
    "paraphrase_score": None,
}
MEMBER = "para-nmt.txt"
LANGUAGES = SAMPLE / "languages.ftz"


def main() -> None:
    """Measure, print and write the figures."""
    parser = options_of(__doc__ or "", name="corpus")
    parser.add_argument("--pairs", type=int, nargs="+", default=[200_000, 1_000_000], help="sizes of corpora")
    options = parser.parse_args()
    labels = measure_labels(options)
    for label, speed in labels.items():
        print(f"{label:24s} {speed:10,.0f} pairs/s", flush=True)
    steps: dict[str, Any] = {}
    for size in [300] if options.quick else options.pairs:
        with tempfile.TemporaryDirectory() as folder:
            steps[str(size)] = measure_steps(Path(folder), size)
        for step, figures in steps[str(size)].items():
            print(f"{step:24s} {size:12,d} pairs  {figures['pairs_per_second']:10,.0f} pairs/s  "
                  f"{figures['peak_mb']:6,.0f} MB", flush=True)  # fmt: skip
    write_json(options.output, {"labels": labels, "steps": steps})


def sample_pairs() -> list[list[str]]:
    """The sample's paraphrases, each as reference, paraphrase and score."""
    with zipfile.ZipFile(SAMPLE / "para-nmt-sample.zip") as archive:
        text = archive.read("para-nmt-sample/para-nmt-sample.txt").decode("utf-8")
    return [line.split("\t") for line in text.splitlines()]


def measure_labels(options: argparse.Namespace) -> dict[str, float]:
    """Pairs labelled per second on one core, by label; a plain reference has labels of its own."""
    pairs = sample_pairs() * 2
    sources, targets = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    identifier = LanguageIdentifier(LANGUAGES)
    seconds = medians(
        {
            "trigram overlap": partial(compare_words, sources, targets),
            "trigram overlap, plain": partial(reference_overlap, sources, targets),
            "languages": partial(identifier.identify, sources + targets, "en"),
            "languages, plain": partial(reference_languages, LANGUAGES, sources + targets),
        },
        options,
    )
    return {label: len(pairs) / taken for label, taken in seconds.items()}


def reference_overlap(sources: list[str], targets: list[str]) -> list[float]:
    """Trigram overlap in plain Python."""
    overlaps = []
    for pair in zip(sources, targets, strict=True):
        sides = [text.lower().split() for text in pair]
        trigrams = [Counter(zip(side, side[1:], side[2:], strict=False)) for side in sides]
        total = min(side.total() for side in trigrams)
        overlaps.append((trigrams[0] & trigrams[1]).total() / total if total else 0.0)
    return overlaps


def reference_languages(model: Path, texts: list[str]) -> list[str]:
    """The language of each sentence, with one call of fastText per sentence."""
    identifier = fasttext.FastText._FastText(str(model))
    return [identifier.f.predict(text.lower() + "\n", 1, 0.0, "strict")[0][1] for text in texts]


def measure_steps(folder: Path, size: int) -> dict[str, dict[str, float]]:
    """Pairs per second and peak memory (MB) of each step on a corpus of `size` pairs."""
    rows, generator = sample_pairs(), random.Random(size)
    with (
        zipfile.ZipFile(folder / "corpus.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(MEMBER, "w", force_zip64=True) as member,
    ):
        for number in range(size):
            first, second, score = generator.choice(rows)
            member.write(f"{first} {number}\t{second} {number}\t{score}\n".encode())
    prepare_sts(SAMPLE / "STS.zip", folder / "sts.parquet")
    gather_testsets(
        [folder / "sts.parquet"],
        folder / "testsets.parquet",
        files=[{"testset": "sts"}],
        segmentation={},
        lowercase=True,
    )
    files = {name: folder / f"{name}.parquet" for name in ("pairs", "scored", "selected", "marked", "merged")}
    counts = folder / "counts.json"
    steps: dict[str, Callable[[], Any]] = {
        "extract": partial(
            extract_corpus,
            "paranmt",
            [folder / "corpus.zip"],
            [{"languages": ("en",), "members": (MEMBER,)}],
            ("en", "en"),
            files["pairs"],
        ),
        "score": partial(
            score_pairs,
            files["pairs"],
            files["scored"],
            languages=("en", "en"),
            identifier=LANGUAGES,
            preparation={"segmentation": {}, "folding": {}, "lowercase": True},
        ),
        "select": partial(
            select_pairs,
            [files["scored"]],
            files["selected"],
            counts,
            folder / "dropped.tsv",
            languages=("en", "en"),
            selection=PAPER,
            preparation={"lowercase": True},
            seed=1,
        ),
        "mark contamination": partial(
            mark_contamination,
            files["selected"],
            folder / "testsets.parquet",
            files["marked"],
            counts=counts,
            examples=folder / "examples.tsv",
            seed=1,
        ),
        "merge": partial(
            merge_pairs,
            [files["selected"]],
            files["merged"],
            counts=counts,
            contaminated=[files["marked"]],
            merging={"duplicates": "keep_one", "drop": ["exact"], "max_pairs": [None], "weights": [1]},
            seed=1,
            resources={"memory_mb": 200, "threads": 1, "temporary": folder / "temporary"},
        ),
    }
    return {name: measured(step, size) for name, step in steps.items()}


def measured(step: Callable[[], Any], size: int) -> dict[str, float]:
    """Run a step in a new process; return its pairs per second and peak memory in MB."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        seconds, peak = process.submit(_alone, step).result()
    return {"pairs_per_second": size / seconds, "peak_mb": peak}


def _alone(step: Callable[[], Any]) -> tuple[float, float]:
    start = time.perf_counter()
    step()
    seconds = time.perf_counter() - start
    # VmHWM is this program's own peak, in kB; getrusage would inherit the peak of the parent process.
    (peak,) = re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    return seconds, int(peak) / 1024


if __name__ == "__main__":
    main()
