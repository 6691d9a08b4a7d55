"""Speed and memory of the corpus steps: `python benchmarks/corpus.py [--pairs N …] [--repeats N]`.

Each step runs on corpora of several sizes in a process of its own, whose peak memory is measured. The labels
of a pair are also measured one by one, beside a plain reference in the same run. Sentences are those of the
sample, in random pairs with a number each. Writes results/benchmarks/corpus.json.
"""

import argparse
import gzip
import multiprocessing
import random
import resource
import statistics
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nltk.tokenize import TreebankWordTokenizer

from paraphrastic.corpus.language_id import LanguageIdentifier, train_language_id
from paraphrastic.corpus.merge import merge_pairs
from paraphrastic.corpus.overlap import trigram_overlap
from paraphrastic.corpus.readers import CorpusFile, extract_corpus
from paraphrastic.corpus.score import score_pairs
from paraphrastic.corpus.select import select_pairs
from paraphrastic.corpus.word_vectors import WordVectors
from paraphrastic.files import write_json

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "data" / "sample"
PAPER = {
    "length": {"min": 5, "max": 40, "count": "mean"},
    "language": {"min_confidence": 0.0},
    "trigram_overlap": {"min": 0.0, "max": 0.7},
    "paraphrase_score": {"min": 0.4, "max": 1.0},
}
MEMBER = "para-nmt.txt"


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=[200_000, 1_000_000], help="sizes of corpora")
    parser.add_argument(
        "--repeats", type=int, default=3, help="runs of each label, of which the median counts"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train_language_id(SAMPLE / "languages.txt.gz", folder / "lid.bin", max_bytes=1 << 30, seed=1)
        write_vectors(folder / "vectors.txt.gz")
        labels = measure_labels(folder, repeats=options.repeats)
        steps = {str(size): measure_steps(folder, size) for size in options.pairs}
    write_json(ROOT / "results" / "benchmarks" / "corpus.json", {"labels": labels, "steps": steps})
    for label, figures in labels.items():
        ratio = f"{figures['ratio']:6.1f} × reference" if "ratio" in figures else ""
        print(f"{label:20s} {figures['pairs_per_second']:12,.0f} pairs/s  {ratio}")
    for size, by_step in steps.items():
        for step, figures in by_step.items():
            print(f"{step:12s} {int(size):12,d} pairs  {figures['pairs_per_second']:10,.0f} pairs/s  "
                  f"{figures['peak_mb']:6,.0f} MB")  # fmt: skip


def sample_pairs() -> list[list[str]]:
    """Lines of the sample's paraphrases: reference, paraphrase, score."""
    with zipfile.ZipFile(SAMPLE / "para-nmt-sample.zip") as archive:
        text = archive.read("para-nmt-sample/para-nmt-sample.txt").decode("utf-8")
    return [line.split("\t") for line in text.splitlines()]


def write_vectors(path: Path) -> None:
    """Random word vectors in 300 dimensions for the sample's words."""
    words = Counter(word for pair in sample_pairs() for side in pair[:2] for word in side.lower().split())
    generator = random.Random(1)
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
        for word in words:
            file.write(f"{word} {' '.join(f'{generator.gauss(0, 1):.3f}' for _ in range(300))}\n")


def measure_labels(folder: Path, *, repeats: int) -> dict[str, dict[str, float]]:
    """Pairs labelled in a second, by label, on one core."""
    pairs = sample_pairs() * 2
    sources, targets = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    identifier, vectors = LanguageIdentifier(folder / "lid.bin"), WordVectors(folder / "vectors.txt.gz")
    few = len(pairs) // 10

    def speed(action: Callable[[], Any], size: int) -> float:
        seconds = []
        for _ in range(repeats):
            start = time.perf_counter()
            action()
            seconds.append(time.perf_counter() - start)
        return size / statistics.median(seconds)

    plain = speed(lambda: reference_overlap(sources[:few], targets[:few], str.split), few)
    treebank = speed(
        lambda: reference_overlap(sources[:few], targets[:few], TreebankWordTokenizer().tokenize), few
    )
    word = speed(lambda: trigram_overlap(sources, targets), len(pairs))
    languages = speed(lambda: identifier.identify(sources + targets), len(pairs))
    scores = speed(lambda: vectors.paraphrase_score(sources, targets), len(pairs))
    return {
        "plain overlap": {"pairs_per_second": plain},
        "plain treebank": {"pairs_per_second": treebank},
        "trigram overlap": {"pairs_per_second": word, "ratio": word / plain},
        "languages": {"pairs_per_second": languages},
        "paraphrase score": {"pairs_per_second": scores},
    }


def reference_overlap(
    sources: list[str], targets: list[str], words: Callable[[str], list[str]]
) -> list[float]:
    """Trigram overlap in plain Python."""
    overlaps = []
    for pair in zip(sources, targets, strict=True):
        sides = [words(text.lower()) for text in pair]
        trigrams = [Counter(zip(side, side[1:], side[2:], strict=False)) for side in sides]
        total = min(side.total() for side in trigrams)
        overlaps.append((trigrams[0] & trigrams[1]).total() / total if total else 0.0)
    return overlaps


def measure_steps(folder: Path, size: int) -> dict[str, dict[str, float]]:
    """Pairs a second and peak memory of each step on a corpus of `size` pairs."""
    rows, generator = sample_pairs(), random.Random(size)
    with (
        zipfile.ZipFile(folder / "corpus.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(MEMBER, "w", force_zip64=True) as member,
    ):
        for number in range(size):
            first, second, score = generator.choice(rows)
            member.write(f"{first} {number}\t{second} {number}\t{score}\n".encode())
    files = {name: folder / f"{name}.parquet" for name in ("pairs", "scored", "selected", "merged")}
    steps: dict[str, Callable[[], Any]] = {
        "extract": lambda: extract_corpus(
            "paranmt",
            [CorpusFile(folder / "corpus.zip", ("en",), (MEMBER,))],
            ("en", "en"),
            files["pairs"],
            max_member_bytes=1 << 40,
        ),
        "score": lambda: score_pairs(
            files["pairs"],
            files["scored"],
            languages=("en", "en"),
            identifier=folder / "lid.bin",
            word_vectors=folder / "vectors.txt.gz",
            segmentation={},
        ),
        "select": lambda: select_pairs(
            [files["scored"]],
            files["selected"],
            counts=folder / "counts.json",
            dropped=folder / "dropped.tsv",
            languages=("en", "en"),
            settings={**PAPER, "paraphrase_score": None},
            folding={},
            lowercase=True,
            seed=1,
        ),
        "merge": lambda: merge_pairs(
            [files["selected"]],
            files["merged"],
            counts=folder / "counts.json",
            duplicates="keep_one",
            max_pairs=[None],
            seed=1,
            memory_mb=1000,
            threads=1,
            temporary=folder / "temporary",
        ),
    }
    return {name: measured(step, size) for name, step in steps.items()}


def measured(step: Callable[[], Any], size: int) -> dict[str, float]:
    """Run a step in a process of its own."""
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_report, args=(step, there))
    process.start()
    there.close()
    seconds, peak = here.recv()
    process.join()
    return {"pairs_per_second": size / seconds, "peak_mb": peak}


def _report(step: Callable[[], Any], answer: Any) -> None:
    start = time.perf_counter()
    step()
    # Kilobytes on Linux.
    answer.send((time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


if __name__ == "__main__":
    main()
