"""STS test sets: read from their archive, identified by their content."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic.evaluation.labelled_file import LabelledFile
from paraphrastic.evaluation.tasks import (
    BENCHMARK,
    BENCHMARK_PARTS,
    DATASETS,
    DEVELOPMENT,
    LICENSED,
    TRACKS,
)
from paraphrastic.registry.archive import read_members

log = logging.getLogger(__name__)

MAX_ARCHIVE_BYTES = 256 << 20


def prepare_sts(archive: Path, output: Path) -> None:
    """Gather the test sets of STS 2012–2017 and of STS Benchmark in one Parquet file.

    Columns: `year` (or `stsb`), `dataset`, `line` (in the original file), `sentence1`, `sentence2`, `gold`
    (0–5), `genre` (of STS Benchmark). The gold score is null in lines without one, which official files
    have; these pairs do not count. A year or
    track that the archive does not hold is left out, with two exceptions that are errors: 2012–2016 must
    be complete but for 2013's SMT, and 2017 must have the English track, on which models are chosen.
    """
    # macOS adds files of its own under the same names.
    found = read_members(archive, lambda name: "__MACOSX" not in name.parts, max_bytes=MAX_ARCHIVE_BYTES)
    members = {}
    for path, content in found.items():
        name = f"{path.parent.name}/{path.name}"
        members[name] = LabelledFile(f"{archive}: {name}", content)
    frames = [
        *_english_years(archive, members),
        *_tracks(archive, members),
        *_benchmark(archive, members),
    ]
    with atomic_output(output) as temporary:
        pl.concat(frames).write_parquet(temporary)


def _english_years(archive: Path, members: Mapping[str, LabelledFile]) -> Iterator[pl.DataFrame]:
    for year, datasets in DATASETS.items():
        for dataset in datasets:
            folder = f"STS{year[2:]}-en-test"
            sentences = members.get(f"{folder}/STS.input.{dataset}.txt")
            gold = members.get(f"{folder}/STS.gs.{dataset}.txt")
            if sentences and gold:
                yield _frame(archive, year, dataset, _english_pairs(sentences, gold))
            elif (year, dataset) == LICENSED:
                log.info("%s: STS %s is without %s, whose sentences need a licence", archive, *LICENSED)
            else:
                kind = "gs" if sentences else "input"
                raise InputError(f"{archive}: {folder}/STS.{kind}.{dataset}.txt is missing")


def _tracks(archive: Path, members: Mapping[str, LabelledFile]) -> Iterator[pl.DataFrame]:
    for name, track in TRACKS.items():
        if member := members.get(f"STS17-test/STS.input.{track.file}.txt"):
            yield _frame(archive, "2017", name, _pairs(member, *_TRACK))
        elif name == DEVELOPMENT:
            raise InputError(f"{archive}: STS17-test/STS.input.{track.file}.txt is missing")


def _benchmark(archive: Path, members: Mapping[str, LabelledFile]) -> Iterator[pl.DataFrame]:
    for part in BENCHMARK_PARTS:
        # The original archive's folder is called stsbenchmark.
        for folder in ("STSBenchmark", "stsbenchmark"):
            if member := members.get(f"{folder}/sts-{part}.csv"):
                yield _frame(archive, BENCHMARK, part, _pairs(member, *_BENCHMARK))


# Columns of the files, which may be followed by others, and what errors say that there should be.
_SENTENCES = ("sentence1", "sentence2"), "two sentences with a tab"
_TRACK = ("sentence1", "sentence2", "gold"), "two sentences with a tab"
_BENCHMARK = ("genre", "file", "year", "number", "gold", "sentence1", "sentence2"), "seven fields with tabs"
# Line, sentences, gold score, genre.
Pair = tuple[int, str, str, float | None, str | None]


def _frame(archive: Path, year: str, dataset: str, pairs: Iterator[Pair]) -> pl.DataFrame:
    text, number = pl.String, pl.Float64
    schema = {"line": pl.Int32, "sentence1": text, "sentence2": text, "gold": number, "genre": text}
    frame = pl.DataFrame(list(pairs), schema=schema, orient="row")
    if missing := frame["gold"].null_count():
        log.info(
            "%s: STS %s %s: %d of %d pairs have no gold score", archive, year, dataset, missing, len(frame)
        )
    if missing == len(frame):
        raise InputError(f"{archive}: STS {year} {dataset} has no pair with a gold score")
    return frame.select(pl.lit(year).alias("year"), pl.lit(dataset).alias("dataset"), pl.all())


def _english_pairs(sentences: LabelledFile, gold: LabelledFile) -> Iterator[Pair]:
    pairs, scores = sentences.lines(), gold.lines()
    # A blank line more at the end of one of the files is no pair.
    while len(pairs) != len(scores) and not (longer := max(pairs, scores, key=len))[-1].strip():
        longer.pop()
    if len(pairs) != len(scores):
        gold_name = gold.name.rpartition("/")[2]
        raise InputError(f"{sentences.name} has {len(pairs)} lines but {gold_name} has {len(scores)}")
    for number, (pair, score) in enumerate(zip(pairs, scores, strict=True), start=1):
        if pair.strip() or score.strip():
            # Official files of 2016 go on with the sources of both sentences.
            cells = _cells(sentences, number, pair, *_SENTENCES)
            yield number, cells["sentence1"], cells["sentence2"], _gold(gold, number, score), None


def _pairs(file: LabelledFile, columns: Sequence[str], expected: str) -> Iterator[Pair]:
    """Pairs of a file with tabs between these columns; the gold score may be missing."""
    for number, line in enumerate(file.lines(), start=1):
        if line.strip():
            cells = _cells(file, number, line, columns, expected)
            gold = _gold(file, number, cells.get("gold", ""))
            yield number, cells["sentence1"], cells["sentence2"], gold, cells.get("genre")


def _cells(
    file: LabelledFile, number: int, line: str, columns: Sequence[str], expected: str
) -> dict[str, str]:
    cells = dict(zip(columns, line.split("\t"), strict=False))
    if "sentence2" not in cells:
        raise file.fault(number, f"{expected} between them expected")
    return cells


def _gold(file: LabelledFile, number: int, text: str) -> float | None:
    return file.score(number, text, what="gold score") if text.strip() else None
